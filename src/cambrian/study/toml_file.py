"""TOML files of tables: read strictly, and every fault with its file, line, whose it is, key and remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from cambrian.study import hints, shapes, toml_text
from cambrian.study.errors import StudyError
from cambrian.study.explain import build
from cambrian.study.positions import Path as Place
from cambrian.study.positions import Positions

Model = TypeVar("Model", bound=BaseModel)
#: what a table of a list is called by
_NAMES = ("id", "name", "heading")


class TomlFile:
    """A file's tables, each of which becomes a model or one clear error.

    A place is the keys and indices on the way to a value: ("claim", 3, "text").
    """

    def __init__(
        self, path: Path, docs: str, *, called: str = "the file", if_unread: str = "check the path"
    ) -> None:
        """Read ``path``, whose keys the page ``docs`` explains.

        ``called`` is what it is in an error, and ``if_unread`` the remedy, where it cannot be read.

        Raises:
            StudyError: it cannot be read, or is not TOML.
        """
        self.path = path
        self._docs = docs
        # tree-sitter counts lines by \n alone
        self._text = toml_text.read(path, called, if_unread).replace("\r\n", "\n")
        self.raw: dict[str, Any] = toml_text.parse(self._text, str(path))

    def only(self, names: Sequence[str]) -> None:
        """Raise :class:`StudyError` for a table or key at the top that is not among ``names``."""
        for key, value in self.raw.items():
            if key not in names:
                what = "table" if isinstance(value, (dict, list)) else "key"
                raise self.error((key,), f"unknown {what}", hints.for_name(key, names, "this file takes"))

    def listed(self, name: str) -> list[dict[str, Any]]:
        """All ``[[name]]`` tables as they stand there, none where there is none.

        Raises:
            StudyError: ``name`` is something else.
        """
        tables = self.raw.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise self.error((name,), f"{name} is no list of tables", f"write [[{name}]]")
        return tables

    def tables(self, name: str, model: type[Model]) -> tuple[Model, ...]:
        """All ``[[name]]`` tables as ``model``.

        Raises:
            StudyError: of the first fault.
        """
        return tuple(self.build(model, (name, index), table) for index, table in enumerate(self.listed(name)))

    def named(self, model: type[Model]) -> dict[str, Model]:
        """The whole file as tables of one kind: ``[NAME]`` → ``model``.

        Raises:
            StudyError: of the first fault.
        """
        return {name: self.build(model, (name,), table) for name, table in self.raw.items()}

    def unique(self, name: str, key: str) -> None:
        """Raise :class:`StudyError` for a ``[[name]]`` table with the ``key`` of one before it."""
        given = [table[key] for table in self.listed(name)]
        for index, one in enumerate(given):
            if one in given[:index]:
                raise self.error((name, index, key), "it is there twice", f"give each {name} its own {key}")

    def build(self, model: type[Model], place: Place, table: Mapping[str, Any]) -> Model:
        """``table``, which stands at ``place``, as ``model``: no text for a number, no 1 for true.

        Its values may differ from those in the file (placeholders), its keys may not.

        Raises:
            StudyError: of the fault that stands first in the file.
        """
        try:
            return build(model, table)
        except ValidationError as error:
            steps, details = self._first(error, place, table)
            raise self.error((*place, *steps), *self._said(model, steps, details)) from error

    def error(self, place: Place, problem: str, remedy: str) -> StudyError:
        """A fault at ``place``, or at the table where it should stand."""
        where = self._positions.find(place)
        names = [part for part in place if isinstance(part, str)]
        return StudyError(
            file=str(self.path),
            line=where.line,
            column=where.column,
            key=names[-1] if names else "",
            problem=self._whose(place) + problem,
            remedy=remedy,
        )

    @cached_property
    def _positions(self) -> Positions:
        return Positions(self._text)

    def _whose(self, place: Place) -> str:
        """``of p-one: `` for a place in the claim of that id."""
        table: Any = self.raw
        for step in place[:2]:
            table = _inside(table, step)
        if len(place) < 2 or not isinstance(table, dict):
            return ""
        return next((f"of {table[key]}: " for key in _NAMES if key in table), "")

    def _first(
        self, error: ValidationError, place: Place, table: Mapping[str, Any]
    ) -> tuple[Place, list[ErrorDetails]]:
        """Where in ``table`` the first fault is, and all that pydantic says of it."""
        faults: dict[Place, list[ErrorDetails]] = {}
        for detail in error.errors():
            faults.setdefault(_steps(detail, table), []).append(detail)
        # of a union's branches, the one that got farthest is the one that was meant
        ends = [
            one for one in faults if not any(one == other[: len(one)] for other in faults if other != one)
        ]
        # what is missing is most likely the key that is unknown
        first = min(
            ends,
            key=lambda one: (faults[one][0]["type"] == "missing", self._positions.find((*place, *one))),
        )
        return first, faults[first]

    def _said(self, model: type[BaseModel], steps: Place, details: Sequence[ErrorDetails]) -> tuple[str, str]:
        """Problem and remedy of what pydantic says of the place ``steps``."""
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
        if len(details) > 1:  # each branch of a union has refused it
            problem = "no such value is possible"
        remedy = f"give {shapes.in_words(shapes.kinds_at(model, steps))}; {see}"
        return problem[:1].lower() + problem[1:], remedy


def _right_key(model: type[BaseModel], steps: Place) -> str:
    known = shapes.keys_of(shapes.kinds_at(model, steps[:-1]))
    remedy = hints.for_name(str(steps[-1]), known, "it takes")
    # option.beta = 1 is a table named option
    dotted = shapes.is_free(shapes.kinds_at(model, steps[:-2]))
    return f"{remedy}; a name with a dot in it stands in quotes" if dotted else remedy


def _steps(detail: ErrorDetails, table: Any) -> Place:
    """The fault's place in ``table``: without the branches of a union, which pydantic names as well."""
    steps: list[str | int] = []
    for part in detail["loc"]:
        inner = _inside(table, part)
        if inner is not None:
            table = inner
            steps.append(part)
    return (*steps, detail["loc"][-1]) if detail["type"] == "missing" else tuple(steps)


def _inside(value: Any, step: str | int) -> Any:
    """What stands there; None, which TOML does not have, for nothing."""
    try:
        return value[step]
    except (KeyError, IndexError, TypeError):
        return None
