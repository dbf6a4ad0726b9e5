"""An estimate with its interval: the type that all methods return."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Interval:
    """``estimate`` with its confidence interval [``low``, ``high``], in the data's unit.

    ``low`` and ``high`` are NaN if ``n`` trials are too few for ``confidence``.
    """

    estimate: float
    low: float
    high: float
    confidence: float
    n: int
    method: str


def finite(value: float) -> float | None:
    """The value, or None for NaN and infinities."""
    return float(value) if math.isfinite(value) else None


def check_confidence(confidence: float) -> None:
    """Raise ``ValueError`` unless ``confidence`` is in (0, 1)."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; give a share between 0 and 1, such as 0.95")


def as_trials(values: Sequence[float] | FloatArray) -> FloatArray:
    """The values as an array of shape (n,), n ≥ 1, all finite; ``ValueError`` otherwise."""
    trials = np.asarray(values, dtype=np.float64)
    if trials.ndim != 1 or len(trials) == 0:
        raise ValueError(f"give one value per trial, not an array of shape {trials.shape}")
    if not np.all(np.isfinite(trials)):
        raise ValueError("every trial's value must be finite: leave invalid trials out first")
    return trials
