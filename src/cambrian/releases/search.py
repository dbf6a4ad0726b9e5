"""Binary search over ordered releases, some of which cannot be tested.

The oldest release has the old behaviour, the newest has not. The search assumes that the behaviour changes
once between them; if it changes several times, the result is one of the changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

State = Literal["old", "new", "skipped"]


@dataclass(frozen=True)
class Range:
    """``last_old``, ``first_new``: places of two releases; ``skipped`` lie between, and cannot be tested."""

    last_old: int
    first_new: int
    skipped: tuple[int, ...]


def narrowed(count: int, known: Mapping[int, State]) -> Range:
    """Where the change lies among ``count`` releases by what is ``known`` of those between the ends."""
    old = max((place for place, state in known.items() if state == "old"), default=0)
    new = min((place for place, state in known.items() if state == "new" and place > old), default=count - 1)
    return Range(old, new, tuple(place for place in range(old + 1, new) if known.get(place) == "skipped"))


def next_place(count: int, known: Mapping[int, State]) -> int | None:
    """The release to test next: the untested one nearest to the middle; None if none is left."""
    found = narrowed(count, known)
    middle = (found.last_old + found.first_new) / 2
    left = [place for place in range(found.last_old + 1, found.first_new) if place not in known]
    return min(left, key=lambda place: (abs(place - middle), place), default=None)


def most_tests(count: int) -> int:
    """The most releases that a search tests if none is skipped; the two ends are known."""
    return max(count - 2, 0).bit_length()
