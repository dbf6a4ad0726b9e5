"""Collects what is wrong with one file and raises the fault that comes first in it."""

from __future__ import annotations

from cambrian.study.errors import StudyError
from cambrian.study.positions import Path, Position, Positions


class Faults:
    """Faults of one study file, each at a path such as ``("network", 0, "rtt_ms")``."""

    def __init__(self, file: str, positions: Positions) -> None:
        self._file = file
        self._positions = positions
        self._found: list[tuple[Position, StudyError]] = []

    def position(self, path: Path) -> Position:
        """Where ``path`` stands in the file."""
        return self._positions.find(path)

    def add(self, path: Path, problem: str, remedy: str, *, key: str | None = None) -> None:
        """Note a fault; ``key`` is the last name in ``path`` unless told."""
        place = self._positions.find(path)
        names = [part for part in path if isinstance(part, str)]
        error = StudyError(
            file=self._file,
            line=place.line,
            column=place.column,
            key=key if key is not None else (names[-1] if names else ""),
            problem=problem,
            remedy=remedy,
        )
        self._found.append((place, error))

    def add_error(self, path: Path, error: StudyError) -> None:
        """Note a fault in another file that is named at ``path``."""
        self._found.append((self._positions.find(path), error))

    def raise_first(self) -> None:
        """Raise the fault that stands first in the file, if there is any."""
        if self._found:
            raise min(self._found, key=lambda found: found[0])[1]
