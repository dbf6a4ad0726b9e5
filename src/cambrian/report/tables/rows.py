"""Shared by tables: the place of a row, means with their intervals, frames that may be empty.

Means are over seeds, one value for each (:mod:`cambrian.report.blocks`); ``_low`` and ``_high`` are the ends
of 95 % intervals over seeds (:mod:`cambrian.stats.jackknife`), null with too few seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from cambrian.report.collect import Cell
from cambrian.stats import jackknife
from cambrian.stats.interval import Interval, finite
from cambrian.stats.scale import Scale

Row = dict[str, Any]


def each(frame: pl.DataFrame | None) -> Iterator[Row]:
    """The rows of a table; none without the table."""
    return frame.iter_rows(named=True) if frame is not None else iter(())


def place(cell: Cell) -> Row:
    """A row's columns ``network`` and ``group``."""
    return {"network": cell.network.name, "group": cell.key}


def interval(values: Mapping[int, float], scale: Scale = "plain") -> Interval | None:
    """Mean over seeds with its interval; None without a seed."""
    return jackknife.mean(values, scale) if values else None


def mean(values: Sequence[float | None]) -> float | None:
    """Mean of the finite values; None without one."""
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


def frame(rows: Sequence[Row], *columns: str) -> pl.DataFrame:
    """Rows as a frame; without rows, an empty frame with ``columns``."""
    if not rows:
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    return pl.DataFrame(rows, infer_schema_length=None)
