"""How many more seeds would settle an inconclusive comparison.

For planning only: the number holds if the difference and the spread stay as they are, and both are
estimated from the few seeds at hand (:mod:`cambrian.stats.power`).
"""

from __future__ import annotations

from collections.abc import Collection

from cambrian.report.layout import Row
from cambrian.stats import power
from cambrian.stats.interval import Interval
from cambrian.stats.jackknife import FEWEST_SEEDS
from cambrian.stats.states import LEVEL, Margin, State

#: the states that settle a comparison
SETTLED: tuple[State, ...] = ("different", "equivalent")


def columns(
    verdict: str,
    interval: Interval | None,
    margin: Margin | None,
    level: float | None,
    null: float = 0.0,
    possible: Collection[State] = SETTLED,
    arms: tuple[int, int] | None = None,
) -> Row:
    """``more_seeds`` (of each side) would settle what is "inconclusive", as ``settles_as``; None if unknown.

    ``level``: how small p must be, see :func:`cambrian.report.families.levels`; None without a test. With
    fewer than three seeds: the number that an interval still needs, which settles nothing: ``settles_as``
    is None. ``possible``: the states that the judge can give; no number leads to another one. ``arms``: the
    seeds of both sides where they may be others. No number is known if one side has more than 1.5 times as
    many as the other: its spread shrinks more slowly, and the interval does not say which spread is whose.
    """
    more, state = None, None
    if verdict == "inconclusive" and interval is not None:
        if interval.n < FEWEST_SEEDS:
            return {"more_seeds": FEWEST_SEEDS - interval.n, "settles_as": None}
        if arms is None or max(arms) <= power.MOST_UNLIKE * min(arms):
            reached = LEVEL if level is None else level
            hint = power.to_settle(interval, margin, null, level=reached if "different" in possible else 0.0)
            # a test on a scale, and the rank of its p, may demand a little more: at least one more seed
            more, state = None if hint.more is None else max(hint.more, 1), hint.state
    if state not in possible:
        more, state = None, None
    return {"more_seeds": more, "settles_as": state}


def forget(row: Row) -> None:
    """No number of seeds would settle this row, in place."""
    row |= {name: None for name in ("more_seeds", "settles_as") if name in row}
