"""The interface through which claims read observations."""

from __future__ import annotations

from typing import Protocol

import polars as pl


class Frames(Protocol):
    """A results folder's frames; :class:`cambrian.report.evidence.Evidence` is one."""

    def frame(self, part: str, table: str = "observations") -> pl.DataFrame | None:
        """The frame of a part, such as "wpi/grid"; None if it has not been run."""


class CachedFrames:
    """A cache that reads each frame once, because many tests use the same part."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._known: dict[tuple[str, str], pl.DataFrame | None] = {}

    def frame(self, part: str, table: str = "observations") -> pl.DataFrame | None:
        """As :meth:`Frames.frame`."""
        if (part, table) not in self._known:
            self._known[part, table] = self._frames.frame(part, table)
        return self._known[part, table]
