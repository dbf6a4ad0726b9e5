from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.stats import splits


@given(st.sets(st.integers(1, 50), max_size=14))
def test_splits_are_different_halves_of_the_seeds(seeds: set[int]) -> None:
    found = splits.splits(list(seeds))
    assert len(found) <= splits.MOST_SPLITS
    assert (found == []) == (len(seeds) < 2)
    for one, other in found:
        assert {*one, *other} == seeds
        assert len(one) + len(other) == len(seeds)
        assert abs(len(one) - len(other)) <= 1
    assert len({frozenset((frozenset(one), frozenset(other))) for one, other in found}) == len(found)
    assert found == splits.splits(sorted(seeds, reverse=True))


def test_all_splits_where_they_are_few() -> None:
    assert splits.splits([1, 2]) == [((1,), (2,))]
    assert splits.splits([1, 2, 3]) == [((1,), (2, 3)), ((2,), (1, 3)), ((3,), (1, 2))]
    assert [one for one, _ in splits.splits([1, 2, 3, 4])] == [(1, 2), (1, 3), (1, 4)]
    assert len(splits.splits(range(10))) == splits.MOST_SPLITS


def gap(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Difference of the two halves' weighted mean values, a seed's value being its place."""
    values = np.arange(one.shape[1], dtype=np.float64)
    with np.errstate(invalid="ignore"):
        means: np.ndarray = (one @ values) / one.sum(axis=1) - (other @ values) / other.sum(axis=1)
    return means


def test_the_estimate_is_the_mean_over_the_splits() -> None:
    seeds = [10, 20, 30, 40]
    found = splits.splits(seeds)
    # (0, 1) - (2, 3), (0, 2) - (1, 3), (0, 3) - (1, 2)
    assert [splits.once(seeds, split, gap) for split in found] == [-2, -1, 0]
    replicates = splits.replicates(seeds, [(split, gap) for split in found])
    assert replicates[0] == -1
    assert len(replicates) == 1 + 4
    # without seed 10: (1) - (2, 3), (2) - (1, 3), (3) - (1, 2)
    assert replicates[1] == pytest.approx((-1.5 + 0 + 1.5) / 3)


def test_seeds_count_on_their_own_side_only() -> None:
    seen = []

    def score(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        seen.append((one, other))
        return np.ones(len(one))

    splits.replicates([1, 2, 3], [(((1, 3), (2,)), score)])
    one, other = seen[0]
    assert one[0].tolist() == [1, 0, 1]
    assert other[0].tolist() == [0, 1, 0]
    assert (one[:, 1] == 0).all() and (other[:, [0, 2]] == 0).all()
    # all, then without each seed
    assert (one + other).sum(axis=1).tolist() == [3, 2, 2, 2]


def test_two_seeds_have_an_estimate_and_no_interval() -> None:
    replicates = splits.replicates([1, 2], [(split, gap) for split in splits.splits([1, 2])])
    assert replicates.tolist() == [-1]


def test_a_split_that_cannot_be_scored_is_left_out_of_the_mean() -> None:
    chosen = [
        (((1,), (2,)), lambda one, other: np.full(len(one), math.nan)),
        (((2,), (1,)), lambda one, other: np.full(len(one), 0.25)),
    ]
    assert splits.replicates([1, 2], chosen).tolist() == [0.25]
    assert np.isnan(splits.replicates([1, 2], chosen[:1])).all()
