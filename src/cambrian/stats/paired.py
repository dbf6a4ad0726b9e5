"""Two arms compared seed by seed: the mean difference, its interval, and the effect size."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.stats

from cambrian.stats import hedges, pairs
from cambrian.stats.bootstrap import bootstrap
from cambrian.stats.interval import FloatArray, Interval, as_trials


@dataclass(frozen=True)
class Paired:
    """Arm a against arm b over the seeds that both have a valid trial of.

    ``difference`` = mean of a - b with its BCa bootstrap interval, in the data's unit; its ``n``
    is the number of pairs. Student's paired ``t`` with ``df`` and two-sided ``p``. ``cohen_dz``
    is the mean difference in SDs *of the differences*, and ``hedges_gz`` the same corrected for
    small samples (NaN for two pairs); neither compares with the g of
    :class:`~cambrian.stats.compare.Comparison`, which counts in SDs of the arms. ``unpaired``
    counts the seeds that only one arm has; they are left out.
    """

    difference: Interval
    t: float
    df: float
    p: float
    cohen_dz: float
    hedges_gz: float
    unpaired: int


def paired(a: Mapping[int, float], b: Mapping[int, float], confidence: float = 0.95) -> Paired:
    """Paired comparison of two arms, seed → one value a trial, over at least two common seeds.

    The interval has no bounds for fewer than three pairs. Where the differences do not vary the
    test is degenerate: p is 1 for no difference and 0 otherwise, and t, d and g are 0 or
    infinite. Sources: Student, Biometrika 6 (1908); Efron, J. Am. Stat. Assoc. 82 (1987) for BCa;
    Cohen, "Statistical Power Analysis for the Behavioral Sciences" (1988), section 2.3.5, for
    d_z; Hedges, J. Educ. Stat. 6 (1981), for the correction by gamma functions.

    Raises:
        ValueError: fewer than two common seeds, or a value that is not finite.
    """
    differences, rounding = _differences(a, b)
    unpaired = len(a.keys() ^ b.keys())
    interval = _interval(differences, confidence)
    df = float(len(differences) - 1)
    t, p = _student(differences, rounding)
    if np.ptp(differences) > rounding:
        d = float(differences.mean() / differences.std(ddof=1))
        return Paired(interval, t, df, p, d, d * hedges.correction(df), unpaired)
    return Paired(interval, t, df, p, t, t, unpaired)


def p_value(a: Mapping[int, float], b: Mapping[int, float]) -> float:
    """The ``p`` of :func:`paired` alone, for many cells at once: it draws no resamples.

    Raises:
        ValueError: fewer than two common seeds, or a value that is not finite.
    """
    return _student(*_differences(a, b))[1]


def _differences(a: Mapping[int, float], b: Mapping[int, float]) -> tuple[FloatArray, float]:
    """a - b for each common seed, and what their subtraction's rounding alone may make of them."""
    seeds = sorted(a.keys() & b.keys())
    if len(seeds) < 2:
        raise ValueError(f"a paired comparison needs two common seeds or more, not {len(seeds)}")
    differences = as_trials([a[seed] for seed in seeds]) - as_trials([b[seed] for seed in seeds])
    rounding = 4 * np.finfo(np.float64).eps * max(abs(value) for value in (*a.values(), *b.values()))
    return differences, float(rounding)


def _student(differences: FloatArray, rounding: float) -> tuple[float, float]:
    """t and two-sided p; differences that do not vary give t = 0 or infinite."""
    if np.ptp(differences) > rounding:
        result = scipy.stats.ttest_1samp(differences, 0.0)
        return float(result.statistic), float(result.pvalue)
    mean = float(differences.mean())
    if abs(mean) > rounding:
        return math.copysign(math.inf, mean), 0.0
    return 0.0, 1.0


def _interval(differences: FloatArray, confidence: float) -> Interval:
    found = bootstrap(differences, method="BCa", confidence=confidence)
    if found.n >= pairs.FEWEST_SEEDS:
        return found
    # of two pairs the bootstrap knows no more than the two
    return Interval(found.estimate, math.nan, math.nan, confidence, found.n, found.method)
