"""Compare two arms, or one arm with a number: test, interval, and effect size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from cambrian.stats import hedges, jackknife
from cambrian.stats.interval import FloatArray, Interval, as_trials
from cambrian.stats.jackknife import CONFIDENCE, FEWEST_SEEDS
from cambrian.stats.scale import Scale

Test = Literal["paired", "Welch", "one sample"]


@dataclass(frozen=True)
class Comparison:
    """Arm a minus arm b, or one arm's mean compared with a number.

    ``difference`` has its 95 % interval, in the data's unit (for one arm: its mean), without bounds below
    three seeds. ``p`` is two-sided and agrees with the interval. ``hedges_g`` is the difference in SDs,
    corrected for small samples. The SD is that of the *differences* of seeds for "paired", of the values for
    "one sample", and the arms' pooled SD for "Welch", so the three are not comparable. ``p`` and ``hedges_g``
    are None with too few seeds, and if nothing ``varies``.
    """

    test: Test
    difference: Interval
    p: float | None
    hedges_g: float | None
    varies: bool


def compare(a: Mapping[int, float], b: Mapping[int, float]) -> Comparison:
    """Test two arms, seed → value, for the same mean.

    Paired by seed (Student) if both have the same seeds, or at least three in common that are at least half
    of each arm's seeds; else two independent arms (Welch). Welch's degrees of freedom are at most those of
    two arms that vary alike. Sources: Student, Biometrika 6 (1908); Welch,
    Biometrika 34 (1947); Hedges, J. Educ. Stat. 6 (1981).

    Raises:
        ValueError: an arm has no seed, or a value that is not finite.
    """
    one, two = as_trials(list(a.values())), as_trials(list(b.values()))
    size = float(np.max(np.abs(np.concatenate([one, two]))))
    common = sorted(a.keys() & b.keys())
    same = a.keys() == b.keys()
    if same or (len(common) >= FEWEST_SEEDS and 2 * len(common) >= max(len(one), len(two))):
        differences = np.array([a[seed] - b[seed] for seed in common])
        return _one_sample("paired", differences, 0.0, "plain", size)
    return _welch(one, two, size)


def against(values: Mapping[int, float], null: float, scale: Scale = "plain") -> Comparison:
    """Test one arm's mean against ``null``, on ``scale``; ``difference`` is the mean itself.

    Raises:
        ValueError: the arm has no seed, or a value that is not finite.
    """
    return _one_sample("one sample", as_trials(list(values.values())), null, scale, None)


def least_p(trials: int) -> float:
    """The chance that one of two flows wins all ``trials`` if chance alone decides who wins a trial."""
    return float(min(2.0 ** (1 - trials), 1.0))


def p_with_chance(p: float | None, trials: int) -> float | None:
    """A test's p, but at least :func:`least_p`; None without a test."""
    return None if p is None else max(p, least_p(trials))


def p_with_scatter(p: float | None, difference: float, sd: float | None, trials: int) -> float | None:
    """A test's p, but at least the chance that a mean of ``trials`` is ``difference`` away from its truth.

    ``sd`` is that of one trial, known from other trials, in the unit of ``difference``; None if unknown.
    Two-sided, by the normal distribution. Few trials that are alike by chance show a tiny spread, and a tiny
    p; their mean is no more certain than this. None without a test.
    """
    if p is None or not sd or trials < 1:
        return p
    return max(p, float(2 * scipy.special.ndtr(-abs(difference) * math.sqrt(trials) / sd)))


def trials_for_scatter(level: float, difference: float, sd: float) -> int:
    """How many trials :func:`p_with_scatter` needs to be as small as ``level`` (above 0), if they stay alike.

    ``difference`` is not 0.
    """
    return math.ceil((float(scipy.special.ndtri(level / 2)) * sd / difference) ** 2)


def _one_sample(test: Test, values: FloatArray, null: float, scale: Scale, size: float | None) -> Comparison:
    seeds = len(values)
    varies = jackknife.varies(values, size)
    if not varies:
        middle = float(values.mean())
        bound = middle if seeds >= FEWEST_SEEDS else math.nan
        found = Interval(middle, bound, bound, CONFIDENCE, seeds, "every seed the same")
        return Comparison(test, found, None, None, varies=seeds < 2)
    means = jackknife.means_without(values[:, np.newaxis])[:, 0]
    found = jackknife.interval(means, seeds, scale, size=0.0)
    p = jackknife.p_value(means, seeds, null, scale, size=0.0)
    if p is None:
        return Comparison(test, found, None, None, varies)
    g = (float(values.mean()) - null) / float(values.std(ddof=1)) * hedges.correction(seeds - 1)
    return Comparison(test, found, p, g, varies)


def _welch(one: FloatArray, two: FloatArray, size: float) -> Comparison:
    seeds = min(len(one), len(two))
    difference = float(one.mean() - two.mean())
    label = "Welch's t over seeds"
    if not (jackknife.varies(one, size) or jackknife.varies(two, size)) and seeds > 1:
        bound = difference if seeds >= FEWEST_SEEDS else math.nan
        found = Interval(difference, bound, bound, CONFIDENCE, seeds, "every seed the same")
        return Comparison("Welch", found, None, None, varies=False)
    if seeds < FEWEST_SEEDS:
        found = Interval(difference, math.nan, math.nan, CONFIDENCE, seeds, label)
        return Comparison("Welch", found, None, None, varies=True)
    variances = [float(arm.var(ddof=1)) for arm in (one, two)]
    sizes = [len(one), len(two)]
    error = math.sqrt(sum(variance / n for variance, n in zip(variances, sizes, strict=True)))
    # a small arm's values may lie close together by chance: then all the variance seems to be the large
    # arm's, with its many degrees of freedom
    degrees = min(_degrees(variances, sizes), _degrees([1.0, 1.0], sizes))
    half = float(scipy.special.stdtrit(degrees, (1 + CONFIDENCE) / 2)) * error
    freedom = sum(sizes) - 2
    pooled = sum(variance * (n - 1) for variance, n in zip(variances, sizes, strict=True)) / freedom
    return Comparison(
        "Welch",
        Interval(difference, difference - half, difference + half, CONFIDENCE, seeds, label),
        float(2 * scipy.special.stdtr(degrees, -abs(difference) / error)),
        difference / math.sqrt(pooled) * hedges.correction(freedom),
        varies=True,
    )


def _degrees(variances: Sequence[float], sizes: Sequence[int]) -> float:
    """Welch's degrees of freedom of the difference of two arms' means."""
    parts = [variance / size for variance, size in zip(variances, sizes, strict=True)]
    return sum(parts) ** 2 / sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
