"""The stacks that a study can name."""

from __future__ import annotations

from collections.abc import Callable, Mapping


class Stacks(dict[str, list[str]]):
    """Stack → its CCAs. ``broken``: stack whose manifest has an error → that error.

    ``at_release`` gives the CCAs of ``STACK@RELEASE``, or None if there is no such name. ``matching`` gives
    all names that ``STACK@PATTERN`` means, and any other name alone.
    """

    matching: Callable[[str], list[str]] = staticmethod(lambda name: [name])

    def __init__(
        self,
        offered: Mapping[str, list[str]],
        broken: Mapping[str, str],
        at_release: Callable[[str], list[str] | None] = lambda name: None,
    ) -> None:
        super().__init__(offered)
        self.broken = broken
        self._at_release = at_release

    def __contains__(self, name: object) -> bool:
        """Is there such a stack, or such a stack with releases?"""
        return super().__contains__(name) or (
            isinstance(name, str) and "@" in name and self._at_release(name) is not None
        )

    def __missing__(self, name: str) -> list[str]:
        """The CCAs of a stack at a release."""
        found = self._at_release(name)
        if found is None:
            raise KeyError(name)
        return found
