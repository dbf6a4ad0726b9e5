"""Cells' effects as they are and in resamples of the seeds, drawn with a fixed seed.

Cambrian gives the same seed the same start offsets and the same random losses in every cell
and for every contestant (study/draw.py). So trials of one seed are not independent, and what
is resampled is the seed: one that is drawn counts for its trials in all cells and on both
sides. Resamples of n seeds vary less than n seeds do, by √((n − 1)/n), and their quantiles are
nearer than Student's; each side's mean is laid further from its estimate by what is missing.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import scipy.stats

from cambrian.effects.model import EffectSpec, Kind
from cambrian.effects.prepare import Prepared, Side
from cambrian.stats.interval import FloatArray

RESAMPLES = 2_000
CONFIDENCE = 0.95
#: with fewer seeds there is an estimate, and no interval
FEWEST_SEEDS = 3


@functools.cache
def weights(seeds: int) -> FloatArray:
    """How often each seed counts: once each, then in each resample; shape (1 + resamples, seeds).

    Without resamples for fewer than three seeds.
    """
    once = np.ones((1, seeds))
    if seeds < FEWEST_SEEDS:
        return once
    draw = np.random.default_rng(1).multinomial(seeds, np.full(seeds, 1 / seeds), size=RESAMPLES)
    return np.concatenate([once, draw])


@functools.cache
def widening(seeds: int) -> float:
    """By how much resamples of so many seeds are too near: √(n/(n − 1)) · t/z; 1 without resamples.

    Sources: Davison and Hinkley, "Bootstrap Methods and their Application" (1997), section 2.2, for
    the variance; Hesterberg, Am. Stat. 69 (2015), section 3.3, for Student's quantile.
    """
    if seeds < FEWEST_SEEDS:
        return 1.0
    upper = (1 + CONFIDENCE) / 2
    student = float(scipy.stats.t.ppf(upper, seeds - 1)) / float(scipy.stats.norm.ppf(upper))
    return math.sqrt(seeds / (seeds - 1)) * student


def effects(prepared: Prepared, spec: EffectSpec) -> FloatArray:
    """Each cell's effect, shape (1 + resamples, cells): first as it is. NaN where it has no value."""
    drawn = weights(len(prepared.seeds))
    found_a = _means(prepared.a, drawn)
    if prepared.b is None:
        return _figure(_widened(len(prepared.seeds), found_a)[0], spec)
    sides = _widened(len(prepared.seeds), found_a, _means(prepared.b, drawn))
    return compare(spec.kind, *(_figure(side, spec) for side in sides))


def compare(kind: Kind, a: FloatArray, b: FloatArray) -> FloatArray:
    """a against b, by element; NaN for a ratio to 0."""
    if kind == "difference":
        return a - b
    ratio: FloatArray = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    if kind == "percent_less":
        return 100 * (1 - ratio)
    return 100 * (ratio - 1) if kind == "percent_more" else ratio


def _figure(means: FloatArray, spec: EffectSpec) -> FloatArray:
    # of an SD the values are squared deviations
    return np.sqrt(means) if spec.of == "sd" else means


def _means(side: Side, drawn: FloatArray) -> FloatArray:
    """Mean of a cell's trials under the draws; NaN where a draw has none of them."""
    count = drawn @ side.counts
    return np.asarray(
        np.divide(drawn @ side.totals, count, out=np.full(count.shape, np.nan), where=count > 0)
    )


def _widened(seeds: int, *sides: FloatArray) -> tuple[FloatArray, ...]:
    """Each side's draws laid further from its first row.

    By adding, which keeps what is the same on both sides the same in their difference and
    ratio; by a power in cells whose positive values would else become negative. What is never
    negative stays so. NaN, a draw without a trial, compares as false throughout.
    """
    factor = widening(seeds)
    added = [side[0] + factor * (side - side[0]) for side in sides]
    positive = ~np.any([np.any(side <= 0, axis=0) for side in sides], axis=0)
    by_power = positive & np.any([np.any(side <= 0, axis=0) for side in added], axis=0)
    laid = []
    for side, new in zip(sides, added, strict=True):
        kept = np.where(np.any(side < 0, axis=0), new, np.maximum(new, 0))
        kept[:, by_power] = side[0, by_power] * (side[:, by_power] / side[0, by_power]) ** factor
        laid.append(kept)
    return tuple(laid)
