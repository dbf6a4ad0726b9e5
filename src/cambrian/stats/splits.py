"""Half-splits of seeds: two arms, each of half of the trials, without a common seed.

A score of pooled trials depends on the number of trials. To make a contestant comparable with the noise
floor, both are scored on halves: the contestant's trials of one half of the seeds against the reference's
trials of the other half, and the reference's trials of one half against its own trials of the other. A seed
is left out of both, within the same splits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from cambrian.stats import jackknife
from cambrian.stats.interval import FloatArray

#: largest number of splits that are scored
MOST_SPLITS = 10

#: seeds of the one half, seeds of the other
Split = tuple[tuple[int, ...], tuple[int, ...]]
#: weights of the seeds (sorted, distinct) in the one arm and in the other, (m, seeds) each → (m,)
Score = Callable[[FloatArray, FloatArray], FloatArray]


def splits(seeds: Sequence[int]) -> list[Split]:
    """Ways to split ``seeds`` into halves (of n/2, or (n ± 1)/2), in a fixed order.

    All ways, or ten different ones drawn with a fixed seed if there are more. Empty for fewer than two seeds.
    """
    seeds = sorted(set(seeds))
    half = len(seeds) // 2
    if half == 0:
        return []
    ways = math.comb(len(seeds), half) // (2 if len(seeds) % 2 == 0 else 1)
    if ways <= MOST_SPLITS:
        halves: list[tuple[int, ...]] = list(itertools.combinations(seeds, half))[:ways]
    else:
        draw = np.random.default_rng(1)
        found: dict[tuple[int, ...], None] = {}
        while len(found) < MOST_SPLITS:
            one = tuple(sorted(draw.permutation(seeds)[:half].tolist()))
            # an even split is stored once, as the half with the first seed
            found[one if 2 * half < len(seeds) or seeds[0] in one else _others(one, seeds)] = None
        halves = list(found)
    return [(one, _others(one, seeds)) for one in halves]


def _others(one: Sequence[int], seeds: Sequence[int]) -> tuple[int, ...]:
    return tuple(seed for seed in seeds if seed not in one)


def once(seeds: Sequence[int], split: Split, score: Score) -> float:
    """The score of one split with all seeds."""
    return float(score(*(np.isin(seeds, half).astype(np.float64)[np.newaxis] for half in split))[0])


def replicates(seeds: Sequence[int], scored: Sequence[tuple[Split, Score]]) -> FloatArray:
    """Mean score over splits: with all seeds, then without each seed, in the same splits.

    Each split comes with its score function. A mean ignores scores that are NaN. Shape (1 + seeds,), or (1,)
    for fewer than three seeds.
    """
    seeds = sorted(set(seeds))
    drawn = jackknife.weights(len(seeds))
    found = [
        score(*(drawn * np.isin(seeds, half).astype(np.float64) for half in halves))
        for halves, score in scored
    ]
    table = np.array(found).reshape(len(scored), len(drawn))
    known = np.isfinite(table)
    total = np.where(known, table, 0).sum(axis=0)
    means: FloatArray = np.divide(
        total, known.sum(axis=0), out=np.full(len(drawn), np.nan), where=known.any(axis=0)
    )
    return means
