"""How many more trials would settle what these leave open.

A plan, not a promise: it holds if the difference and the spread stay as they are, and both are
known from these few trials only (:mod:`cambrian.stats.power`).
"""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.report import layout
from cambrian.report.layout import Column, Row
from cambrian.stats import pairs, power
from cambrian.stats.interval import Interval


def below_the_floor(deficit: Interval | None, trials: int, fewest: int) -> int | None:
    """More trials (of each side) for a verdict; None where there is one, or none is in sight.

    Below ``fewest`` trials, what is missing to it. Then, for a deficit whose interval holds 0,
    what would lift all of it above 0 with 80 % power; a deficit at or below 0 never would be.
    """
    if trials < fewest:
        return fewest - trials
    if deficit is None or deficit.estimate <= 0 or deficit.low > 0:
        return None
    return power.to_exclude(deficit, 0).more or None


def uneven(ratios: Sequence[float], interval: Interval | None) -> int | None:
    """More trials to tell a mean throughput ratio from 0.5 with 80 % power; None where it is already."""
    if len(ratios) < pairs.FEWEST_SEEDS or interval is None or not interval.low <= 0.5 <= interval.high:
        return None
    return power.to_detect(ratios, 0.5).more or None


def _shown(row: Row) -> str:
    return layout.NOTHING if row["more_trials"] is None else f"{row['more_trials']:,}"


#: stands in tables that have ``more_trials``
COLUMN = Column("More trials to tell", _shown)
