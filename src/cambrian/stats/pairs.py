"""Scores of pairs of trials: their mean with an interval, seeds resampled.

A score compares a trial of one arm with a trial of another (or of the same). Pairs of equal
seed are left out: they share start offsets, and an arm compared with itself has no such
pair. So means of both kinds are of like with like. Seeds, not pairs, are resampled; a seed
that is drawn counts for its trials in both arms, which keeps the design's pairing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from cambrian.metrics.columns import FloatArray
from cambrian.stats.interval import Interval

RESAMPLES = 9_999
CONFIDENCE = 0.95
#: with fewer seeds there is an estimate, and no interval
FEWEST_SEEDS = 3
_LABEL = "bootstrap percentile over seeds, mean over pairs of different seeds"

#: (seed of one arm's trial, seed of the other's) → score
Scores = Mapping[tuple[int, int], float]


def usable(scores: Scores) -> Scores:
    """The pairs of different seeds; all pairs where there is none (one trial on either side)."""
    different = {pair: score for pair, score in scores.items() if pair[0] != pair[1]}
    return different or scores


def mean(scores: Scores) -> Interval:
    """Mean of the usable scores; without bounds for fewer than three seeds.

    Raises:
        ValueError: there is no score, or one that is not finite.
    """
    kept = _checked(scores)
    seeds = _seeds(kept)
    estimate = float(np.mean(list(kept.values())))
    if len(seeds) < FEWEST_SEEDS:
        return Interval(estimate, math.nan, math.nan, CONFIDENCE, len(seeds), _LABEL)
    return _interval(estimate, _means(kept, seeds, _weights(len(seeds))), len(seeds))


def deficit(scores: Scores, floor: Scores) -> Interval:
    """Mean of ``floor`` minus mean of ``scores``, both under the same draws of seeds.

    Positive where the scores fall short of the floor. Without bounds for fewer than three seeds.
    """
    kept, kept_floor = _checked(scores), _checked(floor)
    seeds = sorted({*_seeds(kept), *_seeds(kept_floor)})
    estimate = float(np.mean(list(kept_floor.values())) - np.mean(list(kept.values())))
    if len(seeds) < FEWEST_SEEDS:
        return Interval(estimate, math.nan, math.nan, CONFIDENCE, len(seeds), _LABEL)
    weights = _weights(len(seeds))
    return _interval(estimate, _means(kept_floor, seeds, weights) - _means(kept, seeds, weights), len(seeds))


def _checked(scores: Scores) -> Scores:
    kept = usable(scores)
    if not kept or not all(math.isfinite(score) for score in kept.values()):
        raise ValueError("give at least one score, and finite ones")
    return kept


def _seeds(scores: Scores) -> list[int]:
    return sorted({seed for pair in scores for seed in pair})


def _weights(seeds: int) -> FloatArray:
    """How often each draw has each seed, shape (draws, seeds)."""
    draw = np.random.default_rng(1)
    return draw.multinomial(seeds, np.full(seeds, 1 / seeds), size=RESAMPLES).astype(np.float64)


def _means(scores: Scores, seeds: list[int], weights: FloatArray) -> FloatArray:
    """Weighted mean of the scores in each draw; NaN where a draw has no pair."""
    place = {seed: index for index, seed in enumerate(seeds)}
    values = np.zeros((len(seeds), len(seeds)))
    present = np.zeros_like(values)
    for (one, other), score in scores.items():
        values[place[one], place[other]] = score
        present[place[one], place[other]] = 1
    total = np.einsum("ri,ij,rj->r", weights, values, weights, optimize=True)
    count = np.einsum("ri,ij,rj->r", weights, present, weights, optimize=True)
    means: FloatArray = np.divide(total, count, out=np.full(len(weights), np.nan), where=count > 0)
    return means


def _interval(estimate: float, means: FloatArray, seeds: int) -> Interval:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.nanquantile(means, [tail, 1 - tail])
    return Interval(estimate, float(low), float(high), CONFIDENCE, seeds, _LABEL)
