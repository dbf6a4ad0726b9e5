"""The scale on which an interval is symmetric: plain, logarithm, or log odds of a share."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from cambrian.stats.interval import FloatArray

#: "plain": additive. "factor": multiplicative, for values above 0 (rates, times, ratios).
#: "share" and "percent": odds, for values between 0 and 1, or 0 and 100. A pair: the odds between these two
#: ends, the factor above the first one if the second is infinite, or additive if both are.
Scale = Literal["plain", "factor", "share", "percent"] | tuple[float, float]
_ENDS: dict[str, tuple[float, float]] = {
    "plain": (-math.inf, math.inf),
    "factor": (0.0, math.inf),
    "share": (0.0, 1.0),
    "percent": (0.0, 100.0),
}


def ends(scale: Scale) -> tuple[float, float]:
    """The least and the largest value on the scale."""
    return scale if isinstance(scale, tuple) else _ENDS[scale]


def fits(values: FloatArray, scale: Scale) -> bool:
    """Do all values that are not NaN lie strictly between the scale's ends?"""
    low, high = ends(scale)
    known = values[~np.isnan(values)]
    return bool(np.all((known > low) & (known < high)))


def transform(values: FloatArray, scale: Scale) -> FloatArray:
    """The values on the scale: unchanged, their logarithm, or the logarithm of their odds.

    Infinite for a value on the scale's end or beyond it.
    """
    values = np.asarray(values, dtype=np.float64)
    low, high = ends(scale)
    if math.isinf(low):
        return values
    inside = np.clip(values, low, high)
    with np.errstate(divide="ignore"):
        upper = np.zeros_like(inside) if math.isinf(high) else np.log(high - inside)
        found: FloatArray = np.log(inside - low) - upper
    return found


def inverse(values: FloatArray, scale: Scale) -> FloatArray:
    """The inverse of :func:`transform`."""
    low, high = ends(scale)
    if math.isinf(low):
        return values
    if math.isinf(high):
        return np.asarray(low + np.exp(values))
    return np.asarray(low + (high - low) / (1 + np.exp(-values)))


def within(values: FloatArray, scale: Scale) -> FloatArray:
    """The values, limited to the scale's ends."""
    return np.asarray(np.clip(values, *ends(scale)))
