"""Reads TOML files of tables strictly; every error has the file, line, table, key and remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite, isnan
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from cambrian import paths
from cambrian.study import hints, toml_text
from cambrian.study.errors import StudyError
from cambrian.study.explain import build, explain
from cambrian.study.faults import Faults
from cambrian.study.positions import Path as Place

Model = TypeVar("Model", bound=BaseModel)
#: bits of a whole number without its sign, as TOML 1.0 promises them
_MOST_BITS = 63
#: largest number that is no whole number; no quantity of ours comes near it
_LARGEST = 1e18
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class TomlFile:
    """The tables of a file; each becomes a model.

    Each method raises all errors that it finds, as one :class:`StudyError` with the others in it. A place is
    the path of keys and indices to a value: ("claim", 3, "text").
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
        text = toml_text.read(path, called, if_unread)
        self.raw: dict[str, Any] = toml_text.parse(text, str(path))
        self._faults = Faults(str(path), text, self.raw, paths.page(docs))

    def check_keys(self, names: Sequence[str]) -> None:
        """Find the top-level tables and keys that ``names`` does not have.

        The next method that reads tables raises these errors together with its own.
        """
        for key, value in self.raw.items():
            if key not in names:
                what = "table" if isinstance(value, (dict, list)) else "key"
                self._faults.add((key,), f"unknown {what}", hints.for_name(key, names, "this file takes"))

    def listed(self, name: str) -> list[dict[str, Any]]:
        """All ``[[name]]`` tables as plain data; empty if the file has none.

        Raises:
            StudyError: ``name`` is not a list of tables.
        """
        tables: list[dict[str, Any]] = self.raw.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            self._faults.add((name,), f"{name} is not a list of tables", f"write [[{name}]]")
            self._faults.raise_all()
        return tables

    def tables(self, name: str, model: type[Model]) -> tuple[Model, ...]:
        """All ``[[name]]`` tables as ``model``.

        Raises:
            StudyError: ``name`` is not a list of tables, or a table has an error.
        """
        return self.build_all(model, (((name, index), one) for index, one in enumerate(self.listed(name))))

    def tables_by_name(self, model: type[Model]) -> dict[str, Model]:
        """The whole file as tables of one kind: ``[NAME]`` → ``model``.

        Raises:
            StudyError: a table has an error.
        """
        built = self.build_all(model, (((name,), table) for name, table in self.raw.items()))
        return dict(zip(self.raw, built, strict=True))

    def unique(self, name: str, key: str) -> None:
        """Raise :class:`StudyError` for the ``[[name]]`` tables whose ``key`` an earlier one has."""
        seen = set()
        for index, table in enumerate(self.listed(name)):
            if table[key] in seen:
                remedy = f"give each {name} its own {key}"
                self._faults.add((name, index, key), "this value occurs twice", remedy)
            seen.add(table[key])
        self._faults.raise_all()

    def build(self, model: type[Model], place: Place, table: Mapping[str, Any]) -> Model:
        """``table`` at ``place`` as ``model``, as in :meth:`build_all`."""
        (built,) = self.build_all(model, [(place, table)])
        return built

    def build_all(
        self, model: type[Model], tables: Iterable[tuple[Place, Mapping[str, Any]]]
    ) -> tuple[Model, ...]:
        """Each table with its place as ``model``; strict: no text for a number, no 1 for true.

        The keys of a table must be those in the file; its values may differ (placeholders).

        Raises:
            StudyError: a table has an error.
        """
        built = []
        for place, table in tables:
            absurd = list(_absurd(place, table))
            for one in absurd:
                self._faults.add(*one)
            if absurd:
                continue

            def locate(where: Place, place: Place = place) -> Place:
                return (*place, *where)

            try:
                built.append(build(model, table, str(self.path)))
            except ValidationError as error:
                explain(error, model, table, locate, self._faults)
        self._faults.raise_all()
        return tuple(built)

    def refuse(self, wrong: Iterable[tuple[Place, str, str]]) -> None:
        """Raise :class:`StudyError` for each place, problem and remedy, if there are any."""
        for place, problem, remedy in wrong:
            self._faults.add(place, problem, remedy)
        self._faults.raise_all()

    def error(self, place: Place, problem: str, remedy: str, *, key: str | None = None) -> StudyError:
        """An error at ``place``, or at the table that should contain it; ``key`` as in :class:`Faults`."""
        return self._faults.error(place, problem, remedy, key=key)


def _absurd(place: Place, value: Any) -> Iterator[tuple[Place, str, str]]:
    """Place, problem and remedy of what no key of any file takes: NaN, absurd numbers, control characters.

    An infinity is for the models: a probe's margin can have one.
    """
    if isinstance(value, (dict, list)):
        for step in value if isinstance(value, dict) else range(len(value)):
            yield from _absurd((*place, step), value[step])
    elif isinstance(value, float) and isnan(value):
        yield place, "nan is no number", "give a number"
    elif isinstance(value, float) and isfinite(value) and abs(value) > _LARGEST:
        remedy = f"give a number from -{_LARGEST:g} to {_LARGEST:g}"
        yield place, f"{value:g} is too large", remedy
    elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
        yield place, "this whole number has more than 64 bits", "give a smaller number"
    elif isinstance(value, str) and (control := _CONTROL.search(value)):
        problem = f"this text has the control character {control[0]!a}"
        yield place, problem, "remove it; only tabs and line ends are allowed"
