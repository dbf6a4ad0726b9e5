"""Turns pydantic's errors in one table into errors for the author of a study."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from cambrian.study import hints
from cambrian.study.faults import Faults
from cambrian.study.limits import Line, Text, Word
from cambrian.study.positions import Path

#: an example for each required key
EXAMPLES = {
    "name": 'name = "my-study"',
    "title": 'title = "Is my CUBIC a CUBIC?"',
    "rtt_ms": "rtt_ms = 50",
    "stack": 'stack = "quinn"',
    "cca": 'cca = "cubic"',
    "at_s": "at_s = 10",
    "pages": 'pages = ["beta-small"]',
    "objects": "objects = [{ count = 10, size_bytes = 15_000 }]",
    "count": "count = 10",
    "size_bytes": "size_bytes = 15_000",
    "good_to_bad_percent": "good_to_bad_percent = 1",
    "bad_to_good_percent": "bad_to_good_percent = 30",
}

_TYPE_NAMES = {
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false, without quotes",
    "string": "text in quotes",
    "array": "a list in square brackets",
    "object": "a table, such as { key = value }",
}


def _pattern(kind: Any) -> str:
    """The pattern of an annotated text."""
    schema: dict[str, str] = TypeAdapter(kind).json_schema()
    return schema["pattern"]


_PATTERNS = {
    r"^[a-z0-9][a-z0-9-]*$": 'lower-case letters, digits and hyphens, such as "my-study"',
    r"^[A-Za-z0-9][A-Za-z0-9._-]*$": "letters and digits, with . _ - after the first",
    _pattern(Line): "text on one line in quotes, without control characters",
    _pattern(Word): "text on one line in quotes, not empty and without control characters",
    _pattern(Text): "text in quotes, without control characters",
}

_BOUNDS = {
    "exclusiveMinimum": "above",
    "minimum": "at least",
    "exclusiveMaximum": "below",
    "maximum": "at most",
}

_OPTION = (
    "text, a number, true or false for each option: text of one line and at most 1,000 characters, whole "
    "numbers of 64 bits, other numbers from -1e18 to 1e18"
)
_OPTION_NAME = "give a name without spaces, = and control characters; at most 100 characters"
_SHOWN_CHARACTERS = 60
#: model whose keys take one value → what to do with several
_ONE_EACH = {
    "Contestant": "write one [[contestant]] for each value; equal ones need a label",
    "Flow": "write one [[flow]] for each value",
}

Model = TypeVar("Model", bound=BaseModel)


def build(model: type[Model], data: Mapping[str, Any], file: str | None = None) -> Model:
    """Validate parsed TOML strictly: no text for a number, no 1 for true.

    Validators find ``file``, from which the data come, in their context.

    Raises:
        ValidationError: pydantic's, for :func:`explain`.
    """
    return model.model_validate_json(json.dumps(data, default=_no_value), strict=True, context=file)


def _no_value(_date: object) -> object:
    """A TOML date or time as JSON that is invalid for every key, because no key takes a date."""
    return [[None]]


def explain(
    error: ValidationError,
    model: type[BaseModel],
    given: Mapping[str, Any],
    locate: Callable[[Path], Path],
    faults: Faults,
) -> None:
    """Add each error that pydantic found in ``given`` to ``faults``.

    ``locate`` turns a path inside ``given`` into the path in the file.
    """
    details = error.errors()
    misspelt = {tuple(detail["loc"])[:-1] for detail in details if detail["type"] == "extra_forbidden"}
    for detail in details:
        where: Path = tuple(detail["loc"])
        if detail["type"] == "missing" and where[:-1] in misspelt:
            continue  # most likely the unknown key is a misspelling of this one
        if detail["type"] == "too_short" and any(
            other["loc"][: len(where)] == where and len(other["loc"]) > len(where) for other in details
        ):
            continue  # too short only because one of its elements is wrong
        if where[-1:] == ("[key]",):
            faults.add(locate(where[:-1]), f"the name {where[-2]!a} is not possible", _OPTION_NAME)
        elif detail["type"] == "value_error":
            _broken_rule(detail, given, locate, faults)
        elif detail["type"] == "missing":
            key = str(where[-1])
            faults.add(locate(where[:-1]), "missing", f"add {EXAMPLES[key]}", key=key)
        else:
            owner, field, where = _owner(model, where)
            value = _value_at(given, where)
            if detail["type"] == "extra_forbidden":
                faults.add(locate(where), "unknown key", hints.for_key(field, value, owner.model_fields))
            else:
                remedy = f"give {expected(owner, field, value)}"
                if isinstance(value, list) and (one := _ONE_EACH.get(owner.__name__)):
                    remedy = one
                faults.add(locate(where), f"{shown(value)} is not possible", remedy)


def expected(model: type[BaseModel], field: str, value: object = None) -> str:
    """The values that ``field`` of ``model`` takes: ``a number above 0 and at most 10,000``.

    ``value`` is the given value: for a choice, the text names the nearest one.
    """
    schema = model.model_json_schema()["properties"][field]
    schema = next(option for option in schema.get("anyOf", [schema]) if option.get("type") != "null")
    if "enum" in schema:
        near = hints.nearest(str(value), schema["enum"])
        listing = hints.choices(f'"{choice}"' for choice in schema["enum"])
        return f'"{near}"; the choices are {listing}' if near else listing
    if "pattern" in schema:
        longest = f"; at most {schema['maxLength']:,} characters" if "maxLength" in schema else ""
        return _PATTERNS[schema["pattern"]] + longest
    if "patternProperties" in schema:
        return _OPTION
    bounds = [f"{word} {schema[name]:,}" for name, word in _BOUNDS.items() if name in schema]
    kind = schema.get("type", "object")
    if "minItems" in schema and not value:
        return f"{_TYPE_NAMES[kind]} that is not empty"
    if "maxItems" in schema and isinstance(value, list):
        return f"{_TYPE_NAMES[kind]} with at most {schema['maxItems']:,} elements"
    unquoted = ", without quotes" if isinstance(value, str) and kind in ("number", "integer") else ""
    return " ".join([_TYPE_NAMES[kind], " and ".join(bounds)]).strip() + unquoted


def shown(value: object) -> str:
    """The value as TOML would write it, at most 60 characters."""
    if isinstance(value, dict):
        return "a table here"
    if isinstance(value, list):
        return "a list here"
    if isinstance(value, float):
        return repr(value)
    text = json.dumps(value, ensure_ascii=not str(value).isprintable(), default=str)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def _broken_rule(
    detail: ErrorDetails, given: Mapping[str, Any], locate: Callable[[Path], Path], faults: Faults
) -> None:
    """Add a broken rule of a model, with the message ``problem: remedy``, at the last key that it names."""
    where: Path = tuple(detail["loc"])
    message = str(detail["ctx"]["error"])
    problem, _, remedy = message.partition(": ")
    table = _value_at(given, where)
    named = [locate((*where, key)) for key in table if re.search(rf"\b{re.escape(key)}\b", message)]
    faults.add(max(named, key=faults.position, default=locate(where)), problem, remedy)


def _owner(model: type[BaseModel], where: Path) -> tuple[type[BaseModel], str, Path]:
    """The innermost model on the path ``where``, its field, and the path without branches of unions."""
    owner, field = model, ""
    for index, step in enumerate(where):
        if isinstance(step, int):
            continue
        if field:
            nested = _nested_model(owner, field)
            if nested is None:  # a table of free keys: the next step names a branch of a union
                return owner, field, where[: index + 1]
            owner = nested
        field = step
    return owner, field, where


def _nested_model(model: type[BaseModel], field: str) -> type[BaseModel] | None:
    """The model inside ``X``, ``X | None`` or ``tuple[X, ...]``, if there is one."""
    pending: list[Any] = [model.model_fields[field].annotation]
    while pending:
        annotation = pending.pop()
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return annotation
        pending.extend(getattr(annotation, "__args__", ()))
    return None


def _value_at(given: Any, where: Path) -> Any:
    for part in where:
        try:
            given = given[part]
        except TypeError:  # a date, which has no parts
            return given
    return given
