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


def bootstrap_matrix_mean(matrix: FloatArray, *, confidence: float = 0.95, seed: int = 1) -> Interval:
    """Percentile interval of the mean of a (tests, references) matrix of pairwise scores.

    For conformance of every test trial with every reference trial: the cells share trials,
    so whole rows and whole columns are resampled, each with replacement, never cells.
    ``n`` is the smaller side. NaN bounds where either side has a single trial.
    """
    check_confidence(confidence)
    scores = np.asarray(matrix, dtype=np.float64)
    if scores.ndim != 2 or scores.size == 0 or not np.all(np.isfinite(scores)):
        raise ValueError(f"give a finite (tests, references) matrix, not one of shape {scores.shape}")
    tests, references = scores.shape
    label = "bootstrap percentile, mean over pairs"
    estimate = float(scores.mean())
    if min(tests, references) == 1:
        return Interval(estimate, math.nan, math.nan, confidence, 1, label)
    draw = np.random.default_rng(seed)
    row_weight = draw.multinomial(tests, np.full(tests, 1 / tests), size=RESAMPLES) / tests
    column_weight = (
        draw.multinomial(references, np.full(references, 1 / references), size=RESAMPLES) / references
    )
    means = np.einsum("ri,ij,rj->r", row_weight, scores, column_weight, optimize=True)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(estimate, float(low), float(high), confidence, min(tests, references), label)
