"""Compares a published value with our estimate; the result is one of these words.

========================  ===============================================================
inside                    the published value is in our 95 % interval, or the two intervals overlap
near                      not inside, but at most ``near_percent`` of the published value away from it
higher, lower             our estimate is above, or below, the published value
agrees, disagrees         all, or no part, of our interval has the published sign or is on the bound's side
inconclusive              only a part of our interval agrees, or our interval is all that is possible, such as
                          0 to 100 % of the cells: every published figure would be inside
no interval               too few trials for an interval
not complete              our transfers or page loads did not all end in their trial's time: no mean
not defined               our figure would divide by 0, or is a geometric mean with a 0
not printed               the paper leaves this cell empty
not run                   we have no trial
========================  ===============================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from cambrian.effects.summary import Estimate

#: in the order of a page's counts
WORDS = (
    "inside",
    "near",
    "higher",
    "lower",
    "agrees",
    "disagrees",
    "inconclusive",
    "no interval",
    "not complete",
    "not defined",
    "not printed",
    "not run",
)


@dataclass(frozen=True)
class Published:
    """A published value, with its 95 % interval if it follows from the paper."""

    value: float | None
    low: float | None
    high: float | None
    trials: int | None


def agreement(theirs: Published, ours: Estimate, near_percent: float | None = None) -> str:
    """inside, near, higher, lower, inconclusive, no interval or not printed."""
    if theirs.value is None:
        return "not printed"
    if ours.whole_range:
        return "inconclusive"
    low = theirs.value if theirs.low is None else theirs.low
    high = theirs.value if theirs.high is None else theirs.high
    if ours.low is None or ours.high is None:
        return "inside" if theirs.low is not None and low <= ours.estimate <= high else "no interval"
    if ours.low <= high and low <= ours.high:
        return "inside"
    if near_percent is not None and abs(ours.estimate - theirs.value) <= near_percent / 100 * abs(
        theirs.value
    ):
        return "near"
    return "higher" if ours.estimate > theirs.value else "lower"


def bound_agreement(theirs: Published, ours: Estimate, side: Literal["above", "below"]) -> str:
    """agrees, disagrees, inconclusive, no interval or not printed."""
    if theirs.value is None:
        return "not printed"
    return _beyond(ours, theirs.value, above=side == "above")


def sign_agreement(sign: Any, ours: Estimate, neutral: float) -> str:
    """Like :func:`bound_agreement`; ``sign`` is "yes" (above ``neutral``) or "no"."""
    if sign is None:
        return "not printed"
    positive = str(sign).strip().lower()
    if positive not in ("yes", "no", "true", "false"):
        return "not printed"
    return _beyond(ours, neutral, above=positive in ("yes", "true"))


def _beyond(ours: Estimate, bound: float, *, above: bool) -> str:
    if ours.low is None or ours.high is None:
        return "no interval"
    if ours.low > bound:
        return "agrees" if above else "disagrees"
    if ours.high < bound:
        return "disagrees" if above else "agrees"
    return "inconclusive"
