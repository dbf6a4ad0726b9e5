"""Collects the errors of one file, and raises them together."""

from __future__ import annotations

from cambrian.study.errors import StudyError
from cambrian.study.positions import Path, Position, Positions


class Faults:
    """Errors of one study file, each at a path such as ``("network", 0, "rtt_ms")``."""

    def __init__(self, file: str, positions: Positions) -> None:
        self._file = file
        self._positions = positions
        self._found: list[tuple[Position, StudyError]] = []

    def position(self, path: Path) -> Position:
        """Line and column of ``path`` in the file."""
        return self._positions.find(path)

    def add(self, path: Path, problem: str, remedy: str, *, key: str | None = None) -> None:
        """Add an error; ``key`` defaults to the last name in ``path``."""
        place = self._positions.find(path)
        names = [part for part in path if isinstance(part, str)]
        error = StudyError(
            file=self._file,
            line=place.line,
            column=place.column,
            key=key if key is not None else (names[-1] if names else ""),
            problem=problem,
            remedy=remedy,
            source=self._positions.line(place.line),
        )
        # a value that fits none of several types has a fault for each
        if str(error) not in (str(known) for _, known in self._found):
            self._found.append((place, error))

    def add_error(self, path: Path, error: StudyError) -> None:
        """Add an error in another file that is named at ``path``."""
        self._found.append((self._positions.find(path), error))

    def raise_all(self) -> None:
        """Raise the errors, if there are any: the first in the file's order, with the others."""
        if not self._found:
            return
        first, *others = (error for _, error in sorted(self._found, key=lambda placed: placed[0]))
        first.others = tuple(others)
        raise first
