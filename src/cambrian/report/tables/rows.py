"""What tables share: the place of a row, means with their intervals, frames that may be empty.

Means are over valid trials, one value a trial; ``_low`` and ``_high`` are the ends of 95 %
bootstrap intervals, null where there are too few trials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from cambrian.report.collect import Cell
from cambrian.stats import pairs
from cambrian.stats.bootstrap import bootstrap
from cambrian.stats.interval import Interval

Row = dict[str, Any]


def place(cell: Cell) -> Row:
    """Where a row belongs."""
    return {"network": cell.network.name, "group": cell.key}


def interval(values: Sequence[float]) -> Interval | None:
    """Mean of the finite values with its interval; None without any."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return None
    found = bootstrap(finite, method="percentile")
    # of two trials the bootstrap knows no more than the two
    return found if found.n >= pairs.FEWEST_SEEDS else replace(found, low=math.nan, high=math.nan)


def mean(values: Sequence[float | None]) -> float | None:
    """Mean of what is known; None without any."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    return float(np.mean(known)) if known else None


def spread(name: str, found: Interval | None) -> Row:
    """``name``, ``name_low``, ``name_high``; null where unknown."""
    if found is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    return {
        name: finite(found.estimate),
        f"{name}_low": finite(found.low),
        f"{name}_high": finite(found.high),
    }


def finite(value: float) -> float | None:
    """The value, or None for NaN and infinities."""
    return value if math.isfinite(value) else None


def frame(rows: Sequence[Row], *columns: str) -> pl.DataFrame:
    """Rows as a frame; without any, one that still has its ``columns``."""
    if not rows:
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    return pl.DataFrame(rows, infer_schema_length=None)
