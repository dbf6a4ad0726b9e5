"""Exact intervals of binomial counts and of the median."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy

from cambrian.stats.interval import FloatArray, Interval, as_trials, check_confidence


def expected_count(trials: int, probability: float, confidence: float = 0.99) -> tuple[int, int]:
    """Bounds of a binomial count with at least the probability ``confidence``, both included; equal tails.

    A prediction for a known probability, such as a configured loss, not a confidence interval.
    """
    check_confidence(confidence)
    if trials < 0 or not 0 <= probability <= 1:
        raise ValueError(f"a binomial needs trials >= 0 and a probability in [0, 1]: {trials}, {probability}")
    low, high = scipy.stats.binom.interval(confidence, trials, probability)
    return int(low), int(high)


def median_interval(values: Sequence[float] | FloatArray, confidence: float = 0.95) -> Interval:
    """Distribution-free interval of the median between two order statistics.

    Its coverage is at least ``confidence``. Below 6 trials no two order statistics reach 95 %, and the bounds
    are NaN. Source: Conover, "Practical Nonparametric Statistics" (1999), section 3.2, by
    ``scipy.stats.quantile_test``.
    """
    check_confidence(confidence)
    trials = as_trials(values)
    median = float(np.median(trials))
    test = scipy.stats.quantile_test(trials, q=median, p=0.5)
    low, high = (float(bound) for bound in test.confidence_interval(confidence))  # type: ignore[attr-defined]
    if math.isnan(low) or math.isnan(high):  # an interval needs both bounds
        low = high = math.nan
    return Interval(median, low, high, confidence, len(trials), "order statistics, median")
