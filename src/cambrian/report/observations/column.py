"""What the columns of observations share."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

Row = dict[str, Any]
Dtype = pl.DataType


def percent(share: float | None) -> float | None:
    """A share of 1 as one of 100; null for NaN and for what is not known."""
    return None if share is None else known(100 * share)


def known(value: float | None) -> float | None:
    """Null for NaN and infinities."""
    return value if value is not None and math.isfinite(value) else None
