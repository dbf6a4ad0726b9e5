"""Turns pydantic's errors in one table into errors for the author of the file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, time
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from cambrian.study import hints
from cambrian.study.faults import Faults
from cambrian.study.limits import Line, OptionName, Text, Word
from cambrian.study.positions import Path

#: an example for each required key of a study
EXAMPLES = {
    "Study.name": 'name = "my-study"',
    "Study.title": 'title = "Is my CUBIC a CUBIC?"',
    "Network.rtt_ms": "rtt_ms = 50",
    "Contestant.stack": 'stack = "quinn"',
    "Contestant.cca": 'cca = "cubic"',
    "Lineup.name": 'name = "two-flows"',
    "Change.at_s": "at_s = 10",
    "PageLoads.pages": 'pages = ["beta-small"]',
    "Page.objects": "objects = [{ count = 10, size_bytes = 15_000 }]",
    "PageObjects.count": "count = 10",
    "PageObjects.size_bytes": "size_bytes = 15_000",
    "BurstLoss.good_to_bad_percent": "good_to_bad_percent = 1",
    "BurstLoss.bad_to_good_percent": "bad_to_good_percent = 30",
}

_TYPE_NAMES = {
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
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
    r"^[^/\s]+/[^/\s]+$": 'a stack and its CCA, such as "quinn/cubic"',
    r"^(tcp|tls)://\S+:[0-9]+$": '"tcp://HOST:PORT" or "tls://HOST:PORT"',
    r"^\w+(\.\w+)+$": 'a class with its module, such as "dask_jobqueue.SLURMCluster"',
    _pattern(OptionName): "a name without spaces, = and control characters",
    _pattern(
        Line
    ): "text on one line in quotes, without control characters and those that turn its direction",
    _pattern(
        Word
    ): "text on one line in quotes, not empty, without control characters and those that turn its direction",
    _pattern(Text): "text in quotes, without control characters",
}

_BOUNDS = {
    "exclusiveMinimum": "above",
    "minimum": "at least",
    "exclusiveMaximum": "below",
    "maximum": "at most",
}

_UNQUOTED = ("number", "integer", "boolean")
_SHOWN_CHARACTERS = 60
#: model whose keys take one value → what to do with several
_ONE_EACH = {
    "Contestant": "write one [[contestant]] for each value; equal ones need a label",
    "Flow": "write one [[flow]] for each value",
}
#: the same in a table that has contestants as parts of its flows
_ONE_EACH_IN = {
    "flow": _ONE_EACH["Flow"],
    "lineup": "write one entry of flows for each value",
}

Model = TypeVar("Model", bound=BaseModel)
Schema = Mapping[str, Any]


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
    given: Any,
    locate: Callable[[Path], Path],
    faults: Faults,
) -> None:
    """Add each error that pydantic found in ``given`` to ``faults``.

    ``locate`` turns a path inside ``given`` into the path in the file.
    """
    # path, and whether the error is in the name there and not in its value → pydantic's errors
    found: dict[tuple[Path, bool], list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False, include_input=False):
        found.setdefault((_path(detail, given), detail["loc"][-1:] == ("[key]",)), []).append(detail)
    # a table or list with an error inside has none of its own: it is too short without the wrong element,
    # or does not fit the other branches of a union
    outer = {where[:length] for where, _ in found for length in range(len(where))}
    misspelt = {where[:-1] for (where, _), details in found.items() if _has(details, "extra_forbidden")}
    for (where, is_name), details in found.items():
        if where in outer:
            continue
        if rule := _has(details, "value_error"):
            _broken_rule(
                str(rule["ctx"]["error"]), where, {} if is_name else _at(given, where), locate, faults
            )
        elif is_name:
            remedy = f"give {_in_words(_names(_kinds(model, where[:-1])))}"
            faults.add(locate(where), f"the name {shown(where[-1])} is not possible", remedy)
        elif (missing := _has(details, "missing")) and where[-1:] == missing["loc"][-1:]:
            # most likely an unknown key is a misspelling of this one
            if where[:-1] not in misspelt:
                key = str(where[-1])
                example = EXAMPLES.get(f"{_owner(model, where)}.{key}")
                faults.add(locate(where[:-1]), "missing", f"add {example or faults.with_page(key)}", key=key)
        elif _has(details, "extra_forbidden"):
            faults.add(locate(where), "unknown key", _right_key(model, where, _at(given, where)))
        else:
            value = _at(given, where)
            is_queue = where[-1:] == ("queue",) and isinstance(value, str)
            instead = hints.not_modelled(str(value)) if is_queue else None
            remedy = instead or faults.with_page(f"give {expected(model, where, value)}")
            several = isinstance(value, list) and not any(
                kind.get("type") == "object" for kind in _kinds(model, where)
            )
            # several labels are never meant: a list there is a text in brackets
            if several and where[-1] != "label" and (owner := _owner(model, where)) in _ONE_EACH:
                remedy = _ONE_EACH_IN.get(str(locate(where)[0]), _ONE_EACH[owner])
            faults.add(locate(where), f"{shown(value)} is not possible", remedy)


def expected(model: type[BaseModel], where: Path, value: object = None) -> str:
    """The values that ``model`` takes at ``where``: ``a number above 0 and at most 10,000``.

    ``value`` is the given value: for a choice, the text names the nearest one.
    """
    return _in_words(_kinds(model, where), value)


def shown(value: object) -> str:
    """The value as TOML would write it, at most 60 characters."""
    if isinstance(value, dict):
        return "a table here" if value else "an empty table"
    if isinstance(value, list):
        return "a list here" if value else "an empty list"
    if isinstance(value, (float, date, time)):
        return str(value)
    text = json.dumps(value, ensure_ascii=not str(value).isprintable(), default=str)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def _broken_rule(
    message: str, where: Path, value: Any, locate: Callable[[Path], Path], faults: Faults
) -> None:
    """Add a broken rule, with the message ``problem: remedy``, at the last key of the table that it names."""
    problem, _, remedy = message.partition(": ")
    keys = value if isinstance(value, dict) else ()
    # a shorter key, such as "of", is a word of any text
    named = [key for key in keys if len(key) > 2 and re.search(rf"\b{re.escape(key)}\b", message)]
    places = [locate((*where, key)) for key in named]
    remedy = remedy or faults.with_page("correct it")
    faults.add(max(places, key=faults.position, default=locate(where)), problem, remedy)


def _right_key(model: type[BaseModel], where: Path, value: object) -> str:
    """Remedy for an unknown key."""
    key = str(where[-1])
    known = _keys(_kinds(model, where[:-1]))
    remedy = hints.for_key(key, value, known)
    # option.beta = 1 is a table named option
    dotted = any(_is_free(kind) for kind in _kinds(model, where[:-2])) and not hints.nearest(key, known)
    return f"{remedy}; put a name with a dot in quotes" if dotted else remedy


def _has(details: Sequence[ErrorDetails], kind: str) -> ErrorDetails | None:
    """The error of this kind; None if there is none."""
    return next((detail for detail in details if detail["type"] == kind), None)


def _path(detail: ErrorDetails, given: Any) -> Path:
    """The error's path in ``given``, without the branches of a union, which pydantic includes."""
    path: list[str | int] = []
    for step in detail["loc"]:
        try:
            given = given[step]
        except (KeyError, IndexError, TypeError):
            continue
        path.append(step)
    # a list that lacks an element is too short, but a table that lacks a key is as it should be
    last = detail["loc"][-1:]
    return (*path, *last) if detail["type"] == "missing" and isinstance(last[0], str) else tuple(path)


def _at(given: Any, where: Path) -> Any:
    for step in where:
        given = given[step]
    return given


def _owner(model: type[BaseModel], where: Path) -> str:
    """The name of the innermost model with a key on the path ``where``."""
    outer = (kind for length in range(len(where) - 1, -1, -1) for kind in _kinds(model, where[:length]))
    return next((str(kind["title"]) for kind in outer if "properties" in kind), "")


def _kinds(model: type[BaseModel], where: Path) -> list[Schema]:
    """The JSON schemas of the values that ``model`` takes at ``where``; empty if there is no such place."""
    whole = _schema(model)
    kinds = _options(whole, whole)
    for step in where:
        kinds = [
            option for kind in kinds for inner in _inside(kind, step) for option in _options(inner, whole)
        ]
    return kinds


@cache
def _schema(model: type[BaseModel]) -> Schema:
    return model.model_json_schema()


def _options(schema: Schema, whole: Schema) -> list[Schema]:
    """The branches of a union, each with its words of its own; without null, which TOML does not have."""
    if "$ref" in schema:
        return _options(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    if "anyOf" in schema and "description" not in schema:
        return [option for inner in schema["anyOf"] for option in _options(inner, whole)]
    return [] if schema.get("type") == "null" else [schema]


def _inside(kind: Schema, step: str | int) -> list[Schema]:
    if isinstance(step, int):
        inner = [*kind.get("prefixItems", ())[step : step + 1], kind.get("items")]
    elif _is_free(kind):
        inner = [*kind.get("patternProperties", {}).values(), kind.get("additionalProperties")]
    else:
        inner = [kind.get("properties", {}).get(step)]
    # true takes anything
    return [one for one in inner if isinstance(one, Mapping)]


def _is_free(kind: Schema) -> bool:
    """May this table have any key, such as the name of a column?"""
    return kind.get("type") == "object" and "properties" not in kind


def _keys(kinds: Iterable[Schema]) -> list[str]:
    """The keys of the tables among ``kinds``."""
    return [key for kind in kinds for key in kind.get("properties", ())]


def _names(kinds: Iterable[Schema]) -> list[Schema]:
    """The schemas of the names that the tables of free keys among ``kinds`` take."""
    return [
        {"type": "string", "pattern": pattern, **kind.get("propertyNames", {})}
        for kind in kinds
        if _is_free(kind)
        for pattern in kind.get("patternProperties", [None])
    ]


def _in_words(kinds: Sequence[Schema], value: object = None) -> str:
    """``a number, or a list in square brackets``; ``value`` as in :func:`expected`."""
    types = [kind.get("type") for kind in kinds]
    # "a number" includes whole numbers
    words = [
        _word(kind, value) for kind in kinds if not (kind.get("type") == "integer" and "number" in types)
    ]
    return ", or ".join(dict.fromkeys(words))


def _word(kind: Schema, value: object) -> str:
    if "properties" in kind:
        return f"a table of {hints.choices(kind['properties'])}"
    if "description" in kind:
        return str(kind["description"])
    if "enum" in kind or "const" in kind:
        choices = kind.get("enum", [kind.get("const")])
        near = hints.nearest(str(value), choices)
        listing = hints.choices(f'"{choice}"' for choice in choices)
        return f'"{near}"; the choices are {listing}' if near else listing
    name = _TYPE_NAMES[kind["type"]]
    if kind["type"] == "string":
        if pattern := kind.get("pattern"):
            name = _PATTERNS.get(pattern, f"text in quotes that matches {pattern}")
        elif kind.get("minLength"):
            name += ", not empty"
        return name + (f"; at most {kind['maxLength']:,} characters" if "maxLength" in kind else "")
    least, most = kind.get("minItems"), kind.get("maxItems")
    if least is not None and least == most:
        return f"{name} with {most} elements"
    if (least is not None or kind.get("minProperties")) and not value:
        return f"{name} that is not empty"
    if most is not None and isinstance(value, list):
        return f"{name} with at most {most:,} elements"
    bounds = [f"{word} {kind[limit]:,}" for limit, word in _BOUNDS.items() if limit in kind]
    unquoted = ", without quotes" if isinstance(value, str) and kind["type"] in _UNQUOTED else ""
    return " ".join([name, " and ".join(bounds)]).strip() + unquoted
