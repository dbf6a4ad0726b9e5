"""The stacks that a study can name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cambrian.study import hints


class Stacks(dict[str, list[str]]):
    """Stack → its CCAs. ``broken``: stack whose manifest has an error → that error.

    ``at_release`` gives the CCAs of ``STACK@RELEASE``, or None if there is no such name. ``matching`` gives
    all names that ``STACK@PATTERN`` means, and any other name alone. ``elsewhere`` gives the remedy for a
    name that people know and that no stack here has, or None.
    """

    matching: Callable[[str], list[str]] = staticmethod(lambda name: [name])

    def __init__(
        self,
        offered: Mapping[str, Sequence[str]],
        broken: Mapping[str, str],
        at_release: Callable[[str], list[str] | None] = lambda name: None,
        elsewhere: Callable[[str], str | None] = lambda name: None,
    ) -> None:
        super().__init__({name: list(ccas) for name, ccas in offered.items()})
        self.broken = broken
        self._at_release = at_release
        self._elsewhere = elsewhere

    def remedy(self, name: str) -> str:
        """What to do about the name of an unknown stack."""
        if "@" in name:
            return "name a stack with releases and one of them, such as quic-go@0.60.0"
        stack, _, cca = name.partition("/")
        if stack in self and cca in self[stack]:
            return f'give the two in keys of their own: stack = "{stack}", cca = "{cca}"'
        own = "a stack of your own: cambrian stacks add MANIFEST, or CAMBRIAN_STACKS=FOLDER"
        return self._elsewhere(name) or f"{hints.for_name(name, self, 'stacks are')}; {own}"

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
