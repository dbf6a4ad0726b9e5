"""Fairness of several flows: Jain's index, shares, and the ratio within a pair."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cambrian.metrics.columns import FloatArray


def _amounts(values: Sequence[float] | FloatArray) -> FloatArray:
    amounts = np.asarray(values, dtype=np.float64)
    if amounts.ndim != 1 or len(amounts) == 0:
        raise ValueError(f"give one value per flow, not an array of shape {amounts.shape}")
    if not np.all(np.isfinite(amounts)) or np.any(amounts < 0):
        raise ValueError(f"throughputs must be finite and not negative: {amounts.tolist()}")
    return amounts


def jain(values: Sequence[float] | FloatArray) -> float:
    """Jain's fairness index, (Σx)² / (n·Σx²), in [1/n, 1]; NaN when every value is 0.

    Source: Jain, Chiu, Hawe, DEC-TR-301 (1984). The n belongs there: one published thesis
    leaves it out, and its figures are n times these.
    """
    amounts = _amounts(values)
    largest = amounts.max()
    if largest == 0:
        return math.nan
    scaled = amounts / largest  # squares of very small or very large numbers would under- or overflow
    return float(scaled.sum() ** 2 / (len(scaled) * np.square(scaled).sum()))


def shares(values: Sequence[float] | FloatArray) -> FloatArray:
    """Each flow's part of the total, shape (n,), summing to 1; NaN when every value is 0."""
    amounts = _amounts(values)
    total = amounts.sum()
    return amounts / total if total > 0 else np.full(len(amounts), math.nan)


def pair_ratio(x_mbps: float, y_mbps: float) -> float:
    """Throughput ratio of x against y, Tx / (Tx + Ty), in [0, 1]; 0.5 is an even split.

    Source: QUICbench (IMC 2022), whose code takes T as the mean of the windowed trace and
    averages over trials before dividing; here T is bytes over time, one ratio a trial.
    """
    return float(shares([x_mbps, y_mbps])[0])
