"""Collects the errors of one file, and raises them together."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from cambrian.study.errors import StudyError
from cambrian.study.positions import Path, Position, Positions

#: keys that can name a table
_NAMES = ("id", "name", "heading")
#: enough errors to stop the reading: each takes about a millisecond, and nobody corrects so many at once
MOST = 1000


class Faults:
    """Errors of one TOML file with this ``text``, each at a path such as ``("network", 0, "rtt_ms")``.

    An error in one of ``named`` tables (key → list of tables, or tables by name) says in which. ``docs`` is
    the page that documents the keys, if remedies should name it.
    """

    def __init__(self, file: str, text: str, named: Mapping[str, Any] | None = None, docs: str = "") -> None:
        self._file = file
        self._text = text
        self._named = named or {}
        self._docs = docs
        #: text of an error → its position, and the error: the cells of a grid share values and their errors
        self._found: dict[str, tuple[Position, StudyError]] = {}

    @cached_property
    def _positions(self) -> Positions:
        return Positions(self._text)

    def position(self, path: Path) -> Position:
        """Line and column of ``path``, or of the table that should contain it."""
        return self._positions.find(path)

    def with_page(self, remedy: str) -> str:
        """The remedy, with the page that documents the keys."""
        return f"{remedy}; {self._docs} has every key" if self._docs else remedy

    def error(self, path: Path, problem: str, remedy: str, *, key: str | None = None) -> StudyError:
        """One error; ``key`` defaults to the last name in ``path``."""
        place = self.position(path)
        names = [part for part in path if isinstance(part, str)]
        return StudyError(
            file=self._file,
            line=place.line,
            column=place.column,
            key=key if key is not None else (names[-1] if names else ""),
            problem=self._owner(path) + problem,
            remedy=remedy,
            source=self._positions.line(place.line),
        )

    def add(self, path: Path, problem: str, remedy: str, *, key: str | None = None) -> None:
        """Add an error, as :meth:`error`."""
        self.add_error(path, self.error(path, problem, remedy, key=key))

    def add_error(self, path: Path, error: StudyError) -> None:
        """Add an error, such as one in another file that is named at ``path``.

        Raises:
            StudyError: as :meth:`raise_all`, if there are enough errors.
        """
        self._found.setdefault(str(error), (self.position(path), error))
        if len(self._found) == MOST:
            self.raise_all()

    def raise_all(self) -> None:
        """Raise the errors, if there are any: the first in the file's order, with the others."""
        if not self._found:
            return
        first, *others = (error for _, error in sorted(self._found.values(), key=lambda placed: placed[0]))
        self._found.clear()
        first.others = tuple(others)
        raise first

    def _owner(self, path: Path) -> str:
        """``of p-one: `` for a path in the claim with that id."""
        table: Any = self._named
        for step in path[:2]:
            try:
                table = table[step]
            except (KeyError, IndexError, TypeError):
                return ""
        names = [table[key] for key in _NAMES if key in table] if isinstance(table, dict) else []
        if len(path) < 2 or not names or not isinstance(names[0], str) or not names[0].isprintable():
            return ""
        return f"of {names[0]}: "
