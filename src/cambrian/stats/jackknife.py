"""The jackknife, the only resampling method here: leave out each seed once; the results give the spread.

A seed means the same start offsets and the same random losses in each cell and for each contestant
(study/draw.py), so the seed is the unit. A seed is left out of all cells and all arms at once, which keeps
their pairing. The interval is Student's: estimate ± t · SE with SE² = (n − 1)/n · Σ (θ₍ᵢ₎ − mean of θ₍·₎)²
and n − 1 degrees of freedom. For a plain mean it equals Student's interval, to the last digit. Sources:
Tukey, Ann. Math. Stat. 29 (1958); Arvesen, Ann. Math. Stat. 40 (1969), for means over pairs; Efron and Stein,
Ann. Stat. 9 (1981), for the variance, which is biased upwards. ``benchmarks/coverage.py`` simulates the
coverage.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from cambrian.stats import scale as scales
from cambrian.stats.interval import BoolArray, FloatArray, Interval, check_confidence
from cambrian.stats.scale import Scale

CONFIDENCE = 0.95
#: fewest seeds for an interval
FEWEST_SEEDS = 3
#: values vary if their range exceeds this part of their size: one frame in ten thousand, or one step of a
#: browser's clock (100 µs) in a second
RESOLUTION = 1e-4
_LABEL = "Student's t over seeds, each left out once"

#: seed → one value, see :func:`cambrian.stats.seeds.by_seed`
Arm = Mapping[int, float]


@functools.cache
def weights(seeds: int) -> FloatArray:
    """Weights of the seeds: first all seeds, then all but each one; shape (1 + seeds, seeds).

    Only the first row for fewer than three seeds.
    """
    once = np.ones((1, seeds))
    return once if seeds < FEWEST_SEEDS else np.concatenate([once, 1 - np.eye(seeds)])


def varies(values: Sequence[float] | FloatArray, size: float | None = None) -> bool:
    """Do the values differ by more than rounding, relative to ``size`` (their largest by default)?"""
    known = np.asarray(values, dtype=np.float64)
    largest = float(np.max(np.abs(known))) if size is None else size
    return bool(np.ptp(known) > RESOLUTION * largest)


def errors(found: FloatArray, has: BoolArray | None = None) -> FloatArray:
    """Standard errors of figures from their replicates, shape (1 + n, k) → (k,).

    ``has``: which of the n seeds each figure is of, shape (n, k); all of them by default. NaN where one of
    its replicates is not finite: a figure that one seed alone defines has an unknown error.
    """
    drawn = found[1:]
    own = np.ones(drawn.shape, dtype=bool) if has is None else has
    count = own.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = drawn.sum(axis=0, where=own) / count
        squares = np.square(drawn - middle).sum(axis=0, where=own)
        return np.asarray(np.where(count < 2, np.nan, np.sqrt((count - 1) / count * squares)))


def fitting(found: FloatArray, scale: Scale) -> Scale:
    """``scale``, or "plain" if a value lies on the scale's end or beyond."""
    return scale if scales.fits(found, scale) else "plain"


def interval(
    found: FloatArray,
    seeds: int,
    scale: Scale = "plain",
    *,
    confidence: float = CONFIDENCE,
    size: float | None = None,
) -> Interval:
    """The interval of a figure, from ``found``: of all seeds, then without each seed; shape (1 + n,).

    ``seeds`` is the number of seeds of the smallest arm: one more than the degrees of freedom. The interval
    is symmetric on ``scale`` if all values fit it, else on the plain scale, and exceeds the scale's ends at
    most as far as the figure itself. The bounds are NaN for fewer than three seeds, and if the figure is
    undefined without one of the seeds. The length is 0 if leaving out a seed changes only rounding (relative
    to ``size``, by default the figure).
    """
    check_confidence(confidence)
    estimate = float(found[0])
    if seeds < FEWEST_SEEDS or len(found) < 2 or not np.isfinite(found).all():
        return Interval(estimate, math.nan, math.nan, confidence, seeds, _LABEL)
    if not _changes(found, size):
        return Interval(estimate, estimate, estimate, confidence, seeds, _LABEL)
    used = fitting(found, scale)
    laid = scales.transform(found, used)
    arm = scipy.special.stdtrit(seeds - 1, (1 + confidence) / 2) * errors(laid[:, np.newaxis])[0]
    bounds = scales.within(scales.inverse(laid[0] + np.array([-arm, arm]), used), scale)
    low, high = min(float(bounds[0]), estimate), max(float(bounds[1]), estimate)
    return Interval(estimate, low, high, confidence, seeds, _LABEL)


def p_value(
    found: FloatArray, seeds: int, null: float, scale: Scale = "plain", *, size: float | None = None
) -> float | None:
    """Two-sided p of "the figure is ``null``": below 0.05 if the 95 % interval excludes it.

    None without an interval, and if leaving out a seed changes only rounding.
    """
    if seeds < FEWEST_SEEDS or len(found) < 2 or not np.isfinite(found).all() or not _changes(found, size):
        return None
    used = fitting(np.append(found, null), scale)
    laid = scales.transform(found, used)
    t = abs(laid[0] - scales.transform(np.array(null), used)) / errors(laid[:, np.newaxis])[0]
    return float(2 * scipy.special.stdtr(seeds - 1, -t))


def of_means(
    arms: Sequence[Arm], figure: Callable[[Sequence[FloatArray]], FloatArray], scale: Scale = "plain"
) -> Interval:
    """``figure`` of the arms' means, with its interval.

    ``figure`` takes one array for each arm, all of one shape, and works by element.

    Raises:
        ValueError: an arm has no seed, or a value that is not finite.
    """
    seeds = fewest(arms)
    return interval(replicates(arms, figure), seeds, scale)


def mean(arm: Arm, scale: Scale = "plain") -> Interval:
    """Mean over seeds with its interval; see :func:`of_means`."""
    return of_means([arm], lambda arms: arms[0], scale)


def replicates(arms: Sequence[Arm], figure: Callable[[Sequence[FloatArray]], FloatArray]) -> FloatArray:
    """``figure`` of the arms' means: of all seeds, then without each seed of any arm; shape (1 + n,).

    Raises:
        ValueError: an arm has no seed, or a value that is not finite.
    """
    if not arms or not all(arm and all(math.isfinite(value) for value in arm.values()) for arm in arms):
        raise ValueError("each arm needs a trial, and finite values")
    seeds = sorted({seed for arm in arms for seed in arm})
    table = np.array([[arm.get(seed, np.nan) for seed in seeds] for arm in arms]).T
    means = means_without(table)
    return np.asarray(figure([means[:, place] for place in range(len(arms))]))


def means_without(table: FloatArray) -> FloatArray:
    """Column means of (seeds, k) over all rows, then without each row, ignoring NaN; shape (1 + n, k)."""
    known = np.isfinite(table)
    count = without(np.add, known, 0)
    total = without(np.add, np.where(known, table, 0.0), 0.0)
    means = np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
    # rounding must not move a mean of equal values, such as of zeros only
    least = without(np.minimum, np.where(known, table, np.inf), np.inf)
    most = without(np.maximum, np.where(known, table, -np.inf), -np.inf)
    return np.asarray(np.clip(means, least, most))


def without(reduced: np.ufunc, table: npt.NDArray[Any], start: float) -> npt.NDArray[Any]:
    """``reduced``, such as a sum, over all rows of (seeds, k), then without each row: as :func:`weights`.

    It is that of the rows before with that of the rows after: a difference of sums would lose digits.
    """
    end = np.full((1, table.shape[1]), start)
    before = reduced.accumulate(np.concatenate([end, table]))
    after = reduced.accumulate(np.concatenate([end, table[::-1]]))[::-1]
    whole = before[-1:]
    return whole if len(table) < FEWEST_SEEDS else np.concatenate([whole, reduced(before[:-1], after[1:])])


def fewest(arms: Sequence[Arm]) -> int:
    """Number of seeds of the smallest arm."""
    return min(len(arm) for arm in arms)


def _changes(found: FloatArray, size: float | None) -> bool:
    # without one of n seeds a mean moves by 1/(n − 1) of that seed's distance from it
    moved = (len(found) - 2) * float(np.ptp(found))
    return moved > RESOLUTION * (abs(float(found[0])) if size is None else size)
