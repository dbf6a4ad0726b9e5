"""How many more seeds would settle what these leave open.

A plan, not a promise: it holds if the difference and the spread stay as they are, and both are
known from these few seeds only (:mod:`cambrian.stats.power`).
"""

from __future__ import annotations

from cambrian.report import layout
from cambrian.report.layout import Column, Row
from cambrian.stats import power
from cambrian.stats.interval import Interval
from cambrian.stats.jackknife import FEWEST_SEEDS
from cambrian.stats.states import Margin


def more_seeds(verdict: str, interval: Interval | None, margin: Margin, null: float = 0.0) -> int | None:
    """More seeds (of each side) until a verdict that is "inconclusive" is another; None where none is in
    sight.

    Below three seeds, what is missing to an interval.
    """
    if verdict != "inconclusive" or interval is None:
        return None
    if interval.n < FEWEST_SEEDS:
        return FEWEST_SEEDS - interval.n
    # corrected for its family a test asks for more than alone, so one more seed at least
    found = power.to_settle(interval, margin, null).more
    return None if found is None else max(found, 1)


def _shown(row: Row) -> str:
    return layout.NOTHING if row["more_seeds"] is None else f"{row['more_seeds']:,}"


#: stands in tables that have ``more_seeds``
COLUMN = Column("More seeds to settle it", _shown)
