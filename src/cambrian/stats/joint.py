"""A figure made of several arms' means: its interval, seeds resampled jointly.

A seed that is drawn counts for its trials in every arm, which keeps a design's pairing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cambrian.metrics.columns import FloatArray
from cambrian.stats.interval import Interval

RESAMPLES = 9_999
CONFIDENCE = 0.95
#: with fewer seeds there is an estimate, and no interval
FEWEST_SEEDS = 3
_LABEL = "bootstrap percentile over seeds, function of means"

#: seed → the value of that seed's trial
Arm = Mapping[int, float]


def of_means(arms: Sequence[Arm], figure: Callable[[Sequence[FloatArray]], FloatArray]) -> Interval:
    """``figure`` of the arms' means, with a 95 % percentile interval.

    ``figure`` takes one array for each arm, all of one shape, and works by element. Draws
    for which an arm has no trial, or the figure no value, are left out. Without bounds for
    fewer than three seeds, or where the figure itself has no value.

    Raises:
        ValueError: an arm has no trial, or one whose value is not finite.
    """
    if not arms or not all(arm and all(math.isfinite(value) for value in arm.values()) for arm in arms):
        raise ValueError("each arm needs a trial, and finite values")
    estimate = float(figure([np.array(np.mean(list(arm.values()))) for arm in arms]))
    seeds = sorted({seed for arm in arms for seed in arm})
    if len(seeds) < FEWEST_SEEDS or not math.isfinite(estimate):
        return Interval(estimate, math.nan, math.nan, CONFIDENCE, len(seeds), _LABEL)
    draws = np.random.default_rng(1).multinomial(
        len(seeds), np.full(len(seeds), 1 / len(seeds)), size=RESAMPLES
    )
    found = figure([_means(arm, seeds, draws.astype(np.float64)) for arm in arms])
    tail = (1 - CONFIDENCE) / 2
    low, high = np.nanquantile(found, [tail, 1 - tail])
    return Interval(estimate, float(low), float(high), CONFIDENCE, len(seeds), _LABEL)


def _means(arm: Arm, seeds: Sequence[int], draws: FloatArray) -> FloatArray:
    """The arm's mean in each draw, NaN where the draw has none of its trials."""
    present = np.array([seed in arm for seed in seeds], dtype=np.float64)
    values = np.array([arm.get(seed, 0.0) for seed in seeds])
    count = draws @ present
    return np.asarray(np.divide(draws @ values, count, out=np.full(len(draws), np.nan), where=count > 0))
