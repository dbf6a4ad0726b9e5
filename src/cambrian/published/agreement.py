"""Compares a published value with our estimate; the result is one of these words.

========================  ===============================================================
inside                    the published value is in our 95 % interval, or the two intervals overlap
near                      not inside, but at most ``near_percent`` of the published value away from it
higher, lower             our estimate is above, or below, the published value
agrees, disagrees         all, or no part, of our interval has the published sign or is on the bound's side
inconclusive              only a part of our interval agrees; our interval is all that is possible, such as
                          0 to 100 % of the cells: every published figure would be inside; or ours is a count,
                          a minimum or a maximum of a part of the paper's grid, and that of all may be another
no interval               too few trials for an interval, or not defined without one of the seeds
not complete              our transfers or page loads did not all end in their trial's time: no mean
not defined               our figure would divide by 0, or is a geometric mean with a 0
not printed               the paper leaves this cell empty
not run                   we have no trial
========================  ===============================================================

A published figure is known to half a unit of its last printed digit: 7 is 6.5 to 7.5. A count, a bound and a
sign are exact.
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


#: a float may differ from the decimal number that it stands for by this part
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Published:
    """A published value, with its 95 % interval if it follows from the paper.

    ``half_unit``: half a unit of the last printed digit.
    """

    value: float | None
    low: float | None
    high: float | None
    trials: int | None
    half_unit: float = 0.0


def agreement(theirs: Published, ours: Estimate, near_percent: float | None = None) -> str:
    """inside, near, higher, lower, inconclusive, no interval or not printed."""
    if theirs.value is None:
        return "not printed"
    if ours.whole_range:
        return "inconclusive"
    slack = theirs.half_unit + _ROUNDING * abs(theirs.value)
    low = (theirs.value if theirs.low is None else theirs.low) - slack
    high = (theirs.value if theirs.high is None else theirs.high) + slack
    if ours.low is None or ours.high is None:
        inside = theirs.low is not None and not ours.of_part and low <= ours.estimate <= high
        return "inside" if inside else "no interval"
    least, most = ours.of_all(ours.low, ours.high)
    if least <= high and low <= most:
        return "inconclusive" if ours.of_part else "inside"
    away = abs(ours.estimate - theirs.value) - slack
    # that of all may be farther away
    if near_percent is not None and not ours.of_part and away <= near_percent / 100 * abs(theirs.value):
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
    least, most = ours.of_all(ours.low, ours.high)
    if least > bound:
        return "agrees" if above else "disagrees"
    if most < bound:
        return "disagrees" if above else "agrees"
    return "inconclusive"
