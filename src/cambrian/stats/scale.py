"""The scale on which an interval is symmetric: plain, logarithm, or log odds of a share."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from cambrian.stats.interval import FloatArray

#: "plain": additive. "factor": multiplicative, for values above 0 (rates, times, ratios).
#: "share" and "percent": odds, for values between 0 and 1, or 0 and 100.
Scale = Literal["plain", "factor", "share", "percent"]
_ENDS: dict[Scale, tuple[float, float]] = {
    "plain": (-math.inf, math.inf),
    "factor": (0.0, math.inf),
    "share": (0.0, 1.0),
    "percent": (0.0, 100.0),
}


def fits(values: FloatArray, scale: Scale) -> bool:
    """Do all values that are not NaN lie strictly between the scale's ends?"""
    low, high = _ENDS[scale]
    known = values[~np.isnan(values)]
    return bool(np.all((known > low) & (known < high)))


def transform(values: FloatArray, scale: Scale) -> FloatArray:
    """The values on the scale: unchanged, their logarithm, or the logarithm of their odds.

    Infinite for a value on the scale's end or beyond it.
    """
    values = np.asarray(values, dtype=np.float64)
    if scale == "plain":
        return values
    low, high = _ENDS[scale]
    inside = np.clip(values, low, high)
    with np.errstate(divide="ignore"):
        upper = np.zeros_like(inside) if scale == "factor" else np.log(high - inside)
        found: FloatArray = np.log(inside) - upper
    return found


def inverse(values: FloatArray, scale: Scale) -> FloatArray:
    """The inverse of :func:`transform`."""
    if scale == "plain":
        return values
    if scale == "factor":
        return np.asarray(np.exp(values))
    return np.asarray(_ENDS[scale][1] / (1 + np.exp(-values)))


def within(values: FloatArray, scale: Scale) -> FloatArray:
    """The values, limited to the scale's ends."""
    return np.asarray(np.clip(values, *_ENDS[scale]))
