"""Mean scores of pairs of trials, with intervals by leaving out each seed once.

A score compares a seed of one arm with a seed of another arm (or of the same arm). Pairs of equal seeds are
omitted: they share start offsets, and an arm compared with itself has no such pair. So both kinds of means
are comparable. A seed is left out of both arms, which keeps the design's pairing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from cambrian.stats import jackknife
from cambrian.stats.interval import FloatArray, Interval
from cambrian.stats.scale import Scale

#: (seed of one arm, seed of the other) → score
Scores = Mapping[tuple[int, int], float]


def usable(scores: Scores) -> Scores:
    """The pairs of different seeds; all pairs if there are none (one seed on both sides)."""
    different = {pair: score for pair, score in scores.items() if pair[0] != pair[1]}
    return different or scores


def mean(scores: Scores, scale: Scale = "plain", *, itself: bool = False) -> Interval:
    """Mean of the usable scores; without bounds for fewer than three seeds.

    ``itself``: the scores are of one arm with itself, not of two arms.

    Raises:
        ValueError: there is no score, or one that is not finite.
    """
    kept = _checked(scores)
    seeds = _seeds(kept)
    return jackknife.interval(_means(kept, seeds), _fewest(kept, itself=itself), scale)


def deficit(scores: Scores, floor: Scores) -> tuple[Interval, float | None]:
    """Mean of ``floor`` minus mean of ``scores``, and p of "no deficit"; each seed is left out of both.

    ``scores`` are of two arms, ``floor`` of one arm with itself. Positive if the scores are below the floor.
    Without bounds and p for fewer than three seeds.
    """
    kept, kept_floor = _checked(scores), _checked(floor)
    seeds = sorted({*_seeds(kept), *_seeds(kept_floor)})
    own = _means(kept_floor, seeds)
    found = own - _means(kept, seeds)
    count, size = min(_fewest(kept, itself=False), _fewest(kept_floor, itself=True)), abs(float(own[0]))
    return jackknife.interval(found, count, size=size), jackknife.p_value(found, count, 0.0, size=size)


def _checked(scores: Scores) -> Scores:
    kept = usable(scores)
    if not kept or not all(math.isfinite(score) for score in kept.values()):
        raise ValueError("give at least one score, all finite")
    return kept


def _seeds(scores: Scores) -> list[int]:
    return sorted({seed for pair in scores for seed in pair})


def _fewest(scores: Scores, *, itself: bool) -> int:
    """Number of seeds of the smaller side; an arm with itself is one side."""
    one, other = ({pair[place] for pair in scores} for place in (0, 1))
    return len(one | other) if itself else min(len(one), len(other))


def _means(scores: Scores, seeds: list[int]) -> FloatArray:
    """Mean of the scores: of all seeds, then without each seed; NaN if no pair remains."""
    weights = jackknife.weights(len(seeds))
    place = {seed: index for index, seed in enumerate(seeds)}
    values = np.zeros((len(seeds), len(seeds)))
    present = np.zeros_like(values)
    for (one, other), score in scores.items():
        values[place[one], place[other]] = score
        present[place[one], place[other]] = 1
    total = np.einsum("ri,ij,rj->r", weights, values, weights)
    count = np.einsum("ri,ij,rj->r", weights, present, weights)
    means: FloatArray = np.divide(total, count, out=np.full(len(weights), np.nan), where=count > 0)
    return means
