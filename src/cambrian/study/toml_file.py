"""Reads TOML files of tables strictly; every error has the file, line, table, key and remedy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import isfinite, isnan
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from cambrian import paths
from cambrian.study import hints, shapes, toml_text
from cambrian.study.errors import StudyError
from cambrian.study.explain import build
from cambrian.study.positions import Path as Place
from cambrian.study.positions import Positions

Model = TypeVar("Model", bound=BaseModel)
#: bits of a whole number without its sign, as TOML 1.0 promises them
_MOST_BITS = 63
#: largest number that is no whole number; no quantity of ours comes near it
_LARGEST = 1e18
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
#: keys that can name a table of a list
_NAMES = ("id", "name", "heading")


class TomlFile:
    """The tables of a file; each becomes a model or raises one error.

    A place is the path of keys and indices to a value: ("claim", 3, "text").
    """

    def __init__(
        self, path: Path, docs: str, *, called: str = "the file", if_unread: str = "check the path"
    ) -> None:
        """Read ``path``; the page ``docs`` (``docs/…``) documents its keys.

        If it cannot be read, ``called`` is its name in the error and ``if_unread`` the remedy.

        Raises:
            StudyError: it cannot be read, or is not TOML.
        """
        self.path = path
        self._docs = paths.page(docs)
        # tree-sitter counts only \n as a line end
        self._text = toml_text.read(path, called, if_unread).replace("\r\n", "\n")
        self.raw: dict[str, Any] = toml_text.parse(self._text, str(path))

    def check_keys(self, names: Sequence[str]) -> None:
        """Raise :class:`StudyError` for a top-level table or key that ``names`` does not have."""
        for key, value in self.raw.items():
            if key not in names:
                what = "table" if isinstance(value, (dict, list)) else "key"
                raise self.error((key,), f"unknown {what}", hints.for_name(key, names, "this file takes"))

    def listed(self, name: str) -> list[dict[str, Any]]:
        """All ``[[name]]`` tables as plain data; empty if the file has none.

        Raises:
            StudyError: ``name`` is not a list of tables.
        """
        tables = self.raw.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise self.error((name,), f"{name} is not a list of tables", f"write [[{name}]]")
        return tables

    def tables(self, name: str, model: type[Model]) -> tuple[Model, ...]:
        """All ``[[name]]`` tables as ``model``.

        Raises:
            StudyError: for the first error.
        """
        return tuple(self.build(model, (name, index), table) for index, table in enumerate(self.listed(name)))

    def tables_by_name(self, model: type[Model]) -> dict[str, Model]:
        """The whole file as tables of one kind: ``[NAME]`` → ``model``.

        Raises:
            StudyError: for the first error.
        """
        return {name: self.build(model, (name,), table) for name, table in self.raw.items()}

    def unique(self, name: str, key: str) -> None:
        """Raise :class:`StudyError` if two ``[[name]]`` tables have the same ``key``."""
        seen = set()
        for index, table in enumerate(self.listed(name)):
            if table[key] in seen:
                raise self.error(
                    (name, index, key), "this value occurs twice", f"give each {name} its own {key}"
                )
            seen.add(table[key])

    def build(self, model: type[Model], place: Place, table: Mapping[str, Any]) -> Model:
        """``table`` at ``place`` as ``model``; strict: no text for a number, no 1 for true.

        Its keys must be those in the file; its values may differ (placeholders).

        Raises:
            StudyError: for the error that comes first in the file.
        """
        self._check_values(place, table)
        try:
            return build(model, table, str(self.path))
        except ValidationError as error:
            steps, details = self._first(error, place, table)
            raise self.error((*place, *steps), *self._in_words(model, steps, details)) from error

    def error(self, place: Place, problem: str, remedy: str) -> StudyError:
        """An error at ``place``, or at the table that should contain it."""
        where = self._positions.find(place)
        names = [part for part in place if isinstance(part, str)]
        return StudyError(
            file=str(self.path),
            line=where.line,
            column=where.column,
            key=names[-1] if names else "",
            problem=self._owner(place) + problem,
            remedy=remedy,
        )

    def _check_values(self, place: Place, value: Any) -> None:
        """Refuse what no key of any file takes: NaN, absurd numbers, control characters.

        An infinity is for the models: a probe's margin can have one.
        """
        if isinstance(value, (dict, list)):
            steps = value if isinstance(value, dict) else range(len(value))
            for step in steps:
                self._check_values((*place, step), value[step])
        elif isinstance(value, float) and isnan(value):
            raise self.error(place, "nan is no number", "give a number")
        elif isinstance(value, float) and isfinite(value) and abs(value) > _LARGEST:
            remedy = f"give a number from -{_LARGEST:g} to {_LARGEST:g}"
            raise self.error(place, f"{value:g} is too large", remedy)
        elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise self.error(place, "this whole number has more than 64 bits", "give a smaller number")
        elif isinstance(value, str) and (control := _CONTROL.search(value)):
            problem = f"this text has the control character {control[0]!a}"
            raise self.error(place, problem, "remove it; only tabs and line ends are allowed")

    @cached_property
    def _positions(self) -> Positions:
        return Positions(self._text)

    def _owner(self, place: Place) -> str:
        """``of p-one: `` for a place in the claim with that id."""
        table: Any = self.raw
        for step in place[:2]:
            table = _inside(table, step)
        if len(place) < 2 or not isinstance(table, dict):
            return ""
        return next((f"of {table[key]}: " for key in _NAMES if key in table), "")

    def _first(
        self, error: ValidationError, place: Place, table: Mapping[str, Any]
    ) -> tuple[Place, list[ErrorDetails]]:
        """The place of the first error in ``table``, and pydantic's errors for that place."""
        faults: dict[Place, list[ErrorDetails]] = {}
        for detail in error.errors():
            faults.setdefault(_steps(detail, table), []).append(detail)
        # among a union's branches, the author most likely meant the one with the deepest error
        ends = [
            steps
            for steps in faults
            if not any(steps == deeper[: len(steps)] for deeper in faults if deeper != steps)
        ]
        # an unknown key is most likely a misspelling of the missing key, so unknown keys come first
        first = min(
            ends,
            key=lambda steps: (faults[steps][0]["type"] == "missing", self._positions.find((*place, *steps))),
        )
        return first, faults[first]

    def _in_words(
        self, model: type[BaseModel], steps: Place, details: Sequence[ErrorDetails]
    ) -> tuple[str, str]:
        """Problem and remedy for pydantic's errors at the place ``steps``."""
        by_type = {detail["type"]: detail for detail in details}
        if "extra_forbidden" in by_type:
            return "unknown key", _right_key(model, steps)
        if "missing" in by_type:
            return "missing", f"give {steps[-1]}"
        see = f"{self._docs} has every key"
        if "value_error" in by_type:
            problem, _, remedy = str(by_type["value_error"]["ctx"]["error"]).partition(": ")
            return problem, remedy or see
        problem = details[0]["msg"].removeprefix("Input ").replace("Tuple", "list")
        if len(details) > 1:  # every branch of a union rejected it
            problem = "this value is not possible"
        remedy = f"give {shapes.in_words(shapes.kinds_at(model, steps))}; {see}"
        return problem[:1].lower() + problem[1:], remedy


def _right_key(model: type[BaseModel], steps: Place) -> str:
    known = shapes.keys_of(shapes.kinds_at(model, steps[:-1]))
    remedy = hints.for_name(str(steps[-1]), known, "it takes")
    # option.beta = 1 is a table named option
    dotted = shapes.is_free(shapes.kinds_at(model, steps[:-2]))
    return f"{remedy}; put a name with a dot in quotes" if dotted else remedy


def _steps(detail: ErrorDetails, table: Any) -> Place:
    """The error's place in ``table``, without the branches of a union, which pydantic includes."""
    steps: list[str | int] = []
    for part in detail["loc"]:
        inner = _inside(table, part)
        if inner is not None:
            table = inner
            steps.append(part)
    return (*steps, detail["loc"][-1]) if detail["type"] == "missing" else tuple(steps)


def _inside(value: Any, step: str | int) -> Any:
    """``value[step]``; None if it does not exist (TOML has no null)."""
    try:
        return value[step]
    except (KeyError, IndexError, TypeError):
        return None
