"""Bootstrap intervals over trials, seeded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import scipy.stats

from cambrian.stats.interval import FloatArray, Interval, as_trials, check_confidence

RESAMPLES = 9_999


def bootstrap(
    values: Sequence[float] | FloatArray,
    *,
    statistic: Literal["mean", "median"] = "mean",
    method: Literal["percentile", "BCa"] = "BCa",
    confidence: float = 0.95,
    seed: int = 1,
) -> Interval:
    """Bootstrap interval of the mean or median of one value per trial.

    Trials that all agree give an interval of length 0. Source: Efron and Tibshirani, "An
    Introduction to the Bootstrap" (1993), chapters 13 and 14, by ``scipy.stats.bootstrap``.
    """
    check_confidence(confidence)
    trials = as_trials(values)
    function = np.mean if statistic == "mean" else np.median
    estimate = float(function(trials))
    label = f"bootstrap {method}, {statistic}"
    if len(trials) == 1:
        return Interval(estimate, math.nan, math.nan, confidence, 1, label)
    if np.all(trials == trials[0]):
        return Interval(estimate, estimate, estimate, confidence, len(trials), label)
    result = scipy.stats.bootstrap(
        (trials,),
        function,
        n_resamples=RESAMPLES,
        confidence_level=confidence,
        method=method,
        vectorized=True,
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(estimate, float(result.low), float(result.high), confidence, len(trials), label)
