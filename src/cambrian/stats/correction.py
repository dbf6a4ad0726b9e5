"""Adjusted p values for many tests at once, such as the cells of a heat map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from cambrian.stats.interval import FloatArray


def _p_values(p: Sequence[float] | FloatArray) -> FloatArray:
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1 or not np.all((values >= 0) & (values <= 1)):
        raise ValueError("p values must be a one-dimensional array of numbers in [0, 1], without NaN")
    return values


def holm(p: Sequence[float] | FloatArray) -> FloatArray:
    """Holm's adjusted p values, in the order given: controls the chance of any false alarm.

    Source: Holm, Scand. J. Stat. 6 (1979).
    """
    values = _p_values(p)
    order = np.argsort(values, kind="stable")
    factors = len(values) - np.arange(len(values))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    return adjusted


def benjamini_hochberg(p: Sequence[float] | FloatArray) -> FloatArray:
    """Benjamini-Hochberg adjusted p values, in the order given: controls the false discovery rate.

    Source: Benjamini and Hochberg, J. R. Stat. Soc. B 57 (1995), by
    ``scipy.stats.false_discovery_control``.
    """
    values = _p_values(p)
    return np.asarray(scipy.stats.false_discovery_control(values, method="bh")) if len(values) else values
