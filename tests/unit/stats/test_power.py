"""Sample sizes against published tables, closed forms and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from cambrian.stats import power
from cambrian.stats.interval import FloatArray, Interval


def arm(mean: float, trials: int, sd: float = 1.0) -> FloatArray:
    """Trials of exactly this mean and standard deviation."""
    drawn = np.random.default_rng(1).normal(size=trials)
    made: FloatArray = mean + sd * (drawn - drawn.mean()) / drawn.std(ddof=1)
    return made


@pytest.mark.parametrize(("effect", "trials"), [(0.2, 199), (0.5, 34), (0.8, 15), (1.0, 10)])
def test_one_sample_sizes_are_those_of_the_tables(effect: float, trials: int) -> None:
    # two-sided, α = 0.05, power 0.8: Cohen (1988) and G*Power
    for sign in (1, -1):
        assert power.to_detect(arm(sign * effect, 5)).more == trials - 5
    assert power.to_detect(arm(3 + 2 * effect, 5, sd=2), threshold=3).more == trials - 5


@pytest.mark.parametrize(("effect", "trials"), [(0.2, 394), (0.5, 64), (0.8, 26), (1.0, 17)])
def test_two_sample_sizes_are_those_of_the_tables(effect: float, trials: int) -> None:
    assert power.to_tell_apart(arm(effect, 5), arm(0, 7)).more == trials - 5


def test_unequal_spreads_by_welch() -> None:
    one, two = arm(1, 6, sd=0.001), arm(0, 6, sd=2)
    # all the spread is in one arm: as many as one sample with d = 1/2
    assert power.to_tell_apart(one, two).more == 34 - 6


@pytest.mark.parametrize(("df", "noncentrality"), [(3, 0.1), (9, 2.5), (33, 2.9), (9, 5.0)])
def test_power_is_the_share_of_tests_that_reject(df: int, noncentrality: float) -> None:
    draw = np.random.default_rng(2)
    t = (draw.normal(size=100_000) + noncentrality) / np.sqrt(draw.chisquare(df, 100_000) / df)
    rejected = float(np.mean(np.abs(t) > scipy.stats.t.isf(0.025, df)))
    assert power.t_test_power(df, noncentrality) == pytest.approx(rejected, abs=0.006)
    assert power.t_test_power(df, 0) == pytest.approx(0.05)
    assert power.t_test_power(df, 1e6) == pytest.approx(1)


def test_half_width_of_a_mean_by_hand() -> None:
    # t(0.975, 17) / √18 = 0.4973 and t(0.975, 16) / √17 = 0.5142
    hint = power.to_narrow(arm(9, 5), 0.5, "Mbps")
    assert hint.more == 18 - 5
    assert hint.sentence == (
        "13 more trials would narrow the 95 % interval of the mean to ± 0.5 Mbps, "
        "if the spread stays as it is"
    )
    assert power.to_narrow(arm(9, 18), 0.5).more == 0
    assert "already" in power.to_narrow(arm(9, 18), 0.5).sentence


@given(st.floats(0.05, 3), st.integers(2, 40))
def test_the_least_number_is_enough_and_one_less_is_not(half_width: float, have: int) -> None:
    more = power.to_narrow(arm(0, have), half_width).more
    assert more is not None

    def reached(n: int) -> float:
        return float(scipy.stats.t.ppf(0.975, n - 1) / math.sqrt(n))

    assert reached(have + more) <= half_width
    assert more == 0 or reached(have + more - 1) > half_width


def test_other_intervals_shrink_with_the_root_of_the_trials() -> None:
    wide = Interval(10, 9, 12, 0.95, 10, "")
    assert power.to_shrink(wide, 1).more == 30  # the longer arm, 2, halved
    assert power.to_shrink(wide, 2).more == 0
    # z·SE = 1 below the estimate, 1 away from 9: (z + z₈₀)/z = 1.4294, squared 2.043
    assert power.to_exclude(wide, 9).more == math.ceil(20.43) - 10
    # towards 11 the other arm counts, 2: four times as many
    assert power.to_exclude(wide, 11).more == math.ceil(81.7) - 10
    nothing = power.to_exclude(wide, 10)
    assert nothing.more is None
    assert "no number of trials" in nothing.sentence


def test_nothing_is_promised_where_nothing_is_known() -> None:
    for hint in (
        power.to_narrow([1.0], 1),
        power.to_detect([1.0]),
        power.to_tell_apart([1.0], [1, 2, 3]),
        power.to_shrink(Interval(1, math.nan, math.nan, 0.95, 3, ""), 1),
        power.to_exclude(Interval(1, math.nan, math.nan, 0.95, 3, ""), 0),
    ):
        assert hint.more is None
        assert "too few" in hint.sentence
    far = power.to_detect(arm(0.001, 5))
    assert far.more is None
    assert far.sentence.startswith("more than 10,000 trials")
    assert power.to_detect([0.0, 0.0]).more is None
    assert power.to_detect([1.0, 1.0]).more == 0
    assert power.to_tell_apart([1.0, 1.0], [2.0, 2.0]).more == 0
    with pytest.raises(ValueError, match="half_width"):
        power.to_narrow([1, 2], 0)
    with pytest.raises(ValueError, match="power"):
        power.to_detect([1, 2], power=1)
