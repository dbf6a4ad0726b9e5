"""The types that a pydantic model takes at a place inside it, in words."""

from __future__ import annotations

import types
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel

from cambrian.study import hints
from cambrian.study.positions import Path

_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text in quotes",
    tuple: "a list in square brackets",
    dict: "a table",
}


def keys(model: type[BaseModel]) -> list[str]:
    """The keys of ``model`` as they are written in files."""
    return [field.alias or name for name, field in model.model_fields.items()]


def kinds_at(model: type[BaseModel], place: Path) -> list[Any]:
    """The types that ``model`` takes at ``place``; empty if ``place`` is invalid."""
    kinds: list[Any] = [model]
    for step in place:
        kinds = [inner for kind in kinds for inner in _inside(kind, step)]
    return kinds


def keys_of(kinds: Iterable[Any]) -> list[str]:
    """The keys of the tables among ``kinds``."""
    return [key for kind in kinds if _is_model(kind) for key in keys(kind)]


def is_free(kinds: Iterable[Any]) -> bool:
    """May a table among ``kinds`` have any key, such as the name of a column?"""
    return any(get_origin(kind) is dict for kind in kinds)


def in_words(kinds: Sequence[Any]) -> str:
    """``[float, tuple[float, ...]]`` → ``a number, or a list in square brackets``."""
    # "a number" includes whole numbers
    words = dict.fromkeys(_word(kind) for kind in kinds if not (kind is int and float in kinds))
    return ", or ".join(words)


def _word(kind: Any) -> str:
    if _is_model(kind):
        return f"a table of {hints.choices(keys(kind))}"
    if get_origin(kind) is Literal:
        return hints.choices(f'"{choice}"' for choice in get_args(kind))
    return _WORDS[get_origin(kind) or kind]


def _inside(kind: Any, step: str | int) -> list[Any]:
    if _is_model(kind):
        named = {field.alias or name: field.annotation for name, field in kind.model_fields.items()}
        return _options(named[step]) if step in named else []
    if get_origin(kind) is dict and isinstance(step, str):
        return _options(get_args(kind)[1])
    if get_origin(kind) is tuple and isinstance(step, int):
        return [option for inner in get_args(kind) if inner is not ... for option in _options(inner)]
    return []


def _options(annotation: Any) -> list[Any]:
    """``Annotated[X, …] | Y | None`` → X and Y."""
    if get_origin(annotation) is Annotated:
        return _options(get_args(annotation)[0])
    if get_origin(annotation) in {Union, types.UnionType}:
        return [option for inner in get_args(annotation) for option in _options(inner)]
    return [] if annotation is type(None) else [annotation]


def _is_model(kind: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
