"""The stacks that a study can name."""

from __future__ import annotations

from collections.abc import Mapping


class Stacks(dict[str, list[str]]):
    """Stack → its CCAs. ``broken``: stack whose manifest has an error → that error."""

    def __init__(self, offered: Mapping[str, list[str]], broken: Mapping[str, str]) -> None:
        super().__init__(offered)
        self.broken = broken
