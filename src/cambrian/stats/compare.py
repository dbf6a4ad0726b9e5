"""Two arms compared: Welch's t test with its interval, and Hedges' g."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats

from cambrian.stats import hedges
from cambrian.stats.interval import FloatArray, as_trials, check_confidence


@dataclass(frozen=True)
class Comparison:
    """Arm a against arm b.

    ``difference`` = mean(a) - mean(b) with its interval [``low``, ``high``], in the data's
    unit; Welch's ``t``, ``df`` and two-sided ``p``; ``hedges_g``, the difference in pooled
    SDs, corrected for small samples.
    """

    difference: float
    low: float
    high: float
    t: float
    df: float
    p: float
    hedges_g: float


def welch(
    a: Sequence[float] | FloatArray, b: Sequence[float] | FloatArray, confidence: float = 0.95
) -> Comparison:
    """Welch's t test of two independent arms, one value per trial, at least two each.

    Where neither arm varies at all the test is degenerate: p is 1 for equal means and 0
    otherwise, and t and g are 0 or infinite. Sources: Welch, Biometrika 34 (1947); Hedges,
    J. Educ. Stat. 6 (1981), with the exact correction by gamma functions.
    """
    check_confidence(confidence)
    one, two = as_trials(a), as_trials(b)
    if min(len(one), len(two)) < 2:
        raise ValueError(f"each arm needs two trials or more, not {len(one)} and {len(two)}")
    difference = float(one.mean() - two.mean())
    if np.ptp(one) == 0 and np.ptp(two) == 0:
        far = math.copysign(math.inf, difference) if difference else 0.0
        df = float(len(one) + len(two) - 2)
        return Comparison(difference, difference, difference, far, df, 0.0 if difference else 1.0, far)
    with warnings.catch_warnings():
        # one arm that does not vary is no fault here: its variance is 0
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        result = scipy.stats.ttest_ind(one, two, equal_var=False)
    bounds = result.confidence_interval(confidence)
    return Comparison(
        difference=difference,
        low=float(bounds.low),
        high=float(bounds.high),
        t=float(result.statistic),
        df=float(result.df),
        p=float(result.pvalue),
        hedges_g=_hedges_g(one, two),
    )


def _hedges_g(one: FloatArray, two: FloatArray) -> float:
    freedom = len(one) + len(two) - 2
    squares = np.square(one - one.mean()).sum() + np.square(two - two.mean()).sum()
    d = (one.mean() - two.mean()) / math.sqrt(squares / freedom)
    return float(d * hedges.correction(freedom))
