"""The one resampler: what it is of plain means, and what it keeps."""

from __future__ import annotations

import math
import tracemalloc
import warnings
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.stats import jackknife, pairs
from cambrian.stats import scale as scales
from cambrian.stats.scale import Scale
from cambrian.stats.seeds import by_seed

VALUES = st.lists(st.integers(-1000, 1000).map(float), min_size=3, max_size=12)


def arm(values: list[float]) -> dict[int, float]:
    return dict(enumerate(values))


@settings(deadline=None)
@given(VALUES)
def test_of_a_plain_mean_it_is_students_interval(values: list[float]) -> None:
    found = jackknife.mean(arm(values))
    assert found.estimate == pytest.approx(np.mean(values))
    if jackknife.varies(values, abs(float(np.mean(values)))):
        low, high = scipy.stats.t.interval(0.95, len(values) - 1, np.mean(values), scipy.stats.sem(values))
        assert (found.low, found.high) == pytest.approx((low, high))
    else:
        assert found.low == found.high == found.estimate


def test_seeds_are_left_out_of_all_arms_at_once() -> None:
    # the arms differ by 1 in every seed: only another pairing could make that uncertain
    one = {seed: float(seed**2) for seed in range(8)}
    two = {seed: value + 1 for seed, value in one.items()}
    found = jackknife.of_means([one, two], lambda arms: arms[1] - arms[0])
    assert (found.estimate, found.low, found.high) == pytest.approx((1, 1, 1))


def test_an_arm_may_lack_a_seed_and_then_counts_for_its_own() -> None:
    found = jackknife.of_means(
        [{1: 2.0, 2: 4.0, 3: 6.0, 4: 4.2}, {1: 1.0, 2: 1.2, 3: 0.9}], lambda a: a[0] / a[1]
    )
    assert found.n == 3
    assert found.low < found.estimate < found.high


def test_too_few_seeds_give_no_bounds() -> None:
    found = jackknife.mean({1: 2.0, 2: 4.0})
    assert found.estimate == 3
    assert math.isnan(found.low) and math.isnan(found.high)
    assert jackknife.p_value(np.array([3.0]), 2, 0.0) is None
    with pytest.raises(ValueError, match="needs a trial"):
        jackknife.of_means([{1: 2.0}, {}], lambda arms: arms[0])
    with pytest.raises(ValueError, match="finite"):
        jackknife.mean({1: math.nan})


def test_what_differs_by_rounding_alone_does_not_vary() -> None:
    # 1 part in 100,000: a page load of 512 ms that differs by 5 µs
    found = jackknife.mean(arm([512.0, 512.005, 512.002]))
    assert found.low == found.high == found.estimate
    assert jackknife.mean(arm([512.0, 512.5, 512.2])).low < 512


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("other", [0.0, 3.3])
def test_without_the_only_seed_that_differs_the_mean_is_that_of_the_others(place: int, other: float) -> None:
    for seeds in range(3, 31):
        for one in np.random.default_rng(seeds).uniform(0.01, 9, 30):
            column = np.full((seeds, 1), other)
            column[place] = one
            assert jackknife.means_without(column)[1 + place, 0] == other
    # a loss in one seed alone: the interval was 0 to 100 %
    assert jackknife.mean(arm([0.35] + [0.0] * 9), "percent").high < 0.35


@given(st.integers(0, 9), st.integers(0, 4), st.integers(0, 1000))
def test_means_without_each_row_are_those_of_the_other_rows(rows: int, columns: int, draw: int) -> None:
    rng = np.random.default_rng(draw)
    table = rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-6, 9, (rows, columns))
    table[rng.random((rows, columns)) < 0.3] = np.nan
    kept = [table, *(np.delete(table, row, axis=0) for row in range(rows) if rows > 2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = [np.nanmean(one, axis=0) for one in kept]
    sizes = np.nanmax(np.abs(table), axis=0, initial=0)
    assert np.all(np.isnan(expected) == np.isnan(jackknife.means_without(table)))
    assert np.nanmax(np.abs(expected - jackknife.means_without(table)) - 1e-14 * sizes, initial=0) <= 0


def test_many_seeds_need_little_memory() -> None:
    """A study may have 10,000 seeds: a table of each seed without each needed gigabytes."""
    table = np.random.default_rng(0).normal(size=(3000, 2))
    tracemalloc.start()
    jackknife.means_without(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * table.nbytes


@pytest.mark.parametrize(("scale", "values"), [("factor", [1.0, 1.4, 9.0]), ("share", [0.9, 0.99, 0.95]),
                                               ("percent", [1.0, 4.0, 9.0])])  # fmt: skip
def test_an_interval_stays_within_its_scale(scale: Scale, values: list[float]) -> None:
    found = jackknife.mean(arm(values), scale)
    low, high = {"factor": (0, math.inf), "share": (0, 1), "percent": (0, 100)}[str(scale)]
    assert low < found.low < found.estimate < found.high < high
    # without the last seed the mean is 0, which has no odds: as it is, and cut
    cut = jackknife.mean(arm([0.0, 0.0, values[0] / 2]), scale)
    assert cut.low == 0


@settings(deadline=None)
@given(st.floats(0.01, 0.99), st.sampled_from(["plain", "factor", "share"]))
def test_scales_come_back(value: float, scale: Scale) -> None:
    assert float(scales.inverse(scales.transform(np.array(value), scale), scale)) == pytest.approx(value)


@settings(deadline=None)
@given(st.lists(st.floats(0.05, 0.95), min_size=3, max_size=8), st.floats(0.1, 0.9))
def test_the_test_and_the_interval_agree(values: list[float], null: float) -> None:
    means = jackknife.means_without(np.array(values)[:, np.newaxis])[:, 0]
    found = jackknife.interval(means, len(values), "share")
    p = jackknife.p_value(means, len(values), null, "share")
    if p is not None and abs(p - 0.05) > 1e-9:
        assert (p > 0.05) == (found.low <= null <= found.high)


def test_means_over_pairs_by_hand() -> None:
    # without seed 1, 2, 3 of each other: 0.5, 0.3, 0.2; the mean of all is 1/3
    scores = {(1, 2): 0.2, (1, 3): 0.3, (2, 3): 0.5}
    found = pairs.mean(scores, itself=True)
    error = math.sqrt(2 / 3 * sum((one - 1 / 3) ** 2 for one in (0.5, 0.3, 0.2)))
    assert found.estimate == pytest.approx(1 / 3)
    assert found.high == pytest.approx(1 / 3 + scipy.stats.t.isf(0.025, 2) * error)


def test_two_arms_without_mutual_pairs_are_not_one_arm() -> None:
    """Arms of 3 seeds each, none in common: they had the degrees of freedom of 6 seeds."""
    rng = np.random.default_rng(1)
    scores = {(one, other): float(rng.uniform()) for one in (1, 2, 3) for other in (4, 5, 6)}
    floor = {(one, other): float(rng.uniform()) for one in (4, 5, 6) for other in (4, 5, 6) if one < other}
    assert pairs.mean(scores).n == 3
    assert pairs.deficit(scores, floor)[0].n == 3
    # each pair once: the first side has no seed 6, and the second no seed 4
    assert pairs.mean(floor, itself=True).n == 3


def test_trials_of_a_seed_are_averaged_and_what_is_unbalanced_left_out() -> None:
    trials = [(2, 1.0), (1, 3.0), (2, 2.0), (1, None), (3, 5.0), (3, math.inf)]
    assert by_seed(trials, orders=2) == {2: 1.5}
    assert by_seed(trials) == {1: 3.0, 2: 1.5, 3: 5.0}


def test_a_figure_that_one_seed_alone_defines_has_no_interval() -> None:
    # the ratio without seed 5 is 0/0: without that replicate the others hardly differ
    arms = [arm([0.0, 0.0, 0.0, 0.0, 2.0]), arm([0.0, 0.0, 0.0, 0.0, 20.0])]

    def ratio(means: Sequence[np.ndarray]) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.asarray(means[0] / means[1])

    found = jackknife.replicates(arms, ratio)
    assert math.isnan(jackknife.interval(found, 5).low)
    assert jackknife.p_value(found, 5, 1.0) is None
    assert np.isnan(jackknife.errors(found[:, np.newaxis])).all()
