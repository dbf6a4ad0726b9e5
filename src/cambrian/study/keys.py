"""docs/reference/study-keys.md: every key of a study with type, default and limits, from the models."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from cambrian.study.model import (
    BurstLoss,
    Change,
    Contestant,
    Cpu,
    Flow,
    Frozen,
    Lineup,
    Network,
    Page,
    PageLoads,
    PageObjects,
    Profile,
    Stopping,
    Study,
)
from cambrian.study.tables import HEADING_KEYS, TABLE_KEYS

_HEAD = """# Keys of a study

Every key with its type, default and limits. [Studies](studies.md) explains what the keys mean.
Required keys have no default. Keys that are optional or that exclude
each other have the default "not set".

`make reference` generates this page from `src/cambrian/study/model.py`.
"""
#: heading, place in the file, model, keys
_SECTIONS: Sequence[tuple[str, str, type[Frozen], Sequence[str] | None]] = (
    ("Heading", "Above the first table.", Study, HEADING_KEYS),
    (
        "[[network]]",
        "A list makes a grid, except `name`, `burst_loss` and `schedule`.",
        Network,
        TABLE_KEYS["network"],
    ),
    ("burst_loss", "A table in `[[network]]`.", BurstLoss, None),
    ("schedule", "A list of tables in `[[network]]`.", Change, None),
    (
        "[[contestant]]",
        "A list makes a grid: `stack`, `cca`, `receiver`.",
        Contestant,
        TABLE_KEYS["contestant"],
    ),
    ("receiver_cpu", "A table in `[[contestant]]` and `[[flow]]`.", Cpu, None),
    (
        "[[flow]]",
        "The keys of `[[contestant]]` without lists, these, and `count` (integer from 1; a trial has at most "
        "64 flows).",
        Flow,
        None,
    ),
    ("[[lineup]]", "`flows` is a list of tables with the keys of `[[flow]]`.", Lineup, TABLE_KEYS["lineup"]),
    ("[page_load]", "`pages` also takes names from the catalogue.", PageLoads, TABLE_KEYS["page_load"]),
    ("A page", "An element of `pages`, or `page` of a flow.", Page, None),
    ("objects", "A list of tables in a page.", PageObjects, None),
    ("[stopping]", "Instead of `seeds`.", Stopping, TABLE_KEYS["stopping"]),
    ("[profile.quick], [profile.full]", "What `--profile` changes.", Profile, TABLE_KEYS["profile"]),
)
_WORDS = {str: "text", int: "integer", float: "number", bool: "true or false"}
_PLURALS = {"table": "tables", "text": "texts"}
_LIMITS = {
    "gt": "> ",
    "ge": "≥ ",
    "lt": "< ",
    "le": "≤ ",
    "min_length": "at least ",
    "max_length": "at most ",
}


def page() -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for heading, where, model, keys in _SECTIONS:
        title = heading if heading == "Heading" or heading.startswith("A ") else f"`{heading}`"
        parts.append(f"\n## {title}\n\n{where}\n\n| key | type | default | limits |\n|---|---|---|---|\n")
        fields = model.model_fields
        parts += [_row(key, fields[key]) for key in keys or fields if key != "contestant"]
    return "".join(parts)


def _row(key: str, field: FieldInfo) -> str:
    kind, limits = _kind(field.annotation, list(field.metadata))
    return f"| `{key}` | {kind} | {_default(field)} | {limits} |\n"


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is PydanticUndefined:
        return "required"
    if value is None:
        return "not set"
    if value in ("", (), {}):
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    return f'`"{value}"`' if isinstance(value, str) else f"{value:g}"


def _kind(annotation: Any, metadata: list[Any]) -> tuple[str, str]:
    """Type and limits of a value, in words."""
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(inside[0], [*inside[1:], *metadata])
    if origin in (Union, UnionType):
        options = [option for option in inside if option is not NoneType]
        kinds = [_kind(option, metadata if len(inside) == 2 else []) for option in options]
        words = dict.fromkeys(word for word, _ in kinds)
        return " or ".join(words), "; ".join(dict.fromkeys(limit for _, limit in kinds if limit))
    limits = ", ".join(_limits(metadata, " characters" if annotation is str else ""))
    if origin is Literal:
        return ", ".join(f'`"{choice}"`' for choice in inside), limits
    if origin is tuple:
        element, own = _kind(inside[0], [])
        return f"list of {_PLURALS.get(element, element)}", ", ".join(
            part for part in (limits, own and f"each {own}") if part
        )
    if origin is dict:
        kind, own = _kind(inside[1], [])
        return f"table: name = {kind}", own
    return _WORDS.get(annotation, "table"), limits


def _limits(metadata: list[Any], counted: str = "") -> list[str]:
    """The limits in words; ``counted`` follows the limits of a length."""
    limits = []
    for item in metadata:
        # pydantic keeps a Field() in Annotated whole, or as its parts
        parts = item.metadata if isinstance(item, FieldInfo) else [item]
        for part in parts:
            for name, sign in _LIMITS.items():
                if (value := getattr(part, name, None)) is not None:
                    shown = f"{value:,}" if isinstance(value, int) else f"{value:g}"
                    limits.append(f"{sign}{shown}{counted if name.endswith('_length') else ''}")
            if pattern := getattr(part, "pattern", None):
                limits.append("no control characters" if r"\x7f" in pattern else f"`{pattern}`")
    return limits
