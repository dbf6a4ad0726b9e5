"""How many more seeds would settle an inconclusive comparison.

For planning only: the number holds if the difference and the spread stay as they are, and both are
estimated from the few seeds at hand (:mod:`cambrian.stats.power`).
"""

from __future__ import annotations

from cambrian.report import layout
from cambrian.report.layout import Column, Row
from cambrian.stats import power
from cambrian.stats.interval import Interval
from cambrian.stats.jackknife import FEWEST_SEEDS
from cambrian.stats.states import LEVEL, Margin


def more_seeds(
    verdict: str, interval: Interval | None, margin: Margin | None, level: float | None, null: float = 0.0
) -> int | None:
    """More seeds (of each side) that would settle an "inconclusive" verdict; None if no number is known.

    ``level``: how small p must be, see :func:`cambrian.report.families.levels`; None without a test. With
    fewer than three seeds: the number that an interval still needs.
    """
    if verdict != "inconclusive" or interval is None:
        return None
    if interval.n < FEWEST_SEEDS:
        return FEWEST_SEEDS - interval.n
    # a test on a scale, and the rank of its p, may demand a little more: at least one more seed
    needed = power.to_settle(interval, margin, null, level=LEVEL if level is None else level).more
    return None if needed is None else max(needed, 1)


def _shown(row: Row) -> str:
    return layout.NOTHING if row["more_seeds"] is None else f"{row['more_seeds']:,}"


#: for tables with a column ``more_seeds``
COLUMN = Column("More seeds to settle it", _shown)
