"""Which test, by hand; and none where there is nothing to test."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.stats.compare import against, compare
from cambrian.stats.interval import Interval
from cambrian.stats.states import HARM, SAME, SHARE, Margin, state

VALUES = st.lists(st.integers(-1000, 1000), min_size=3, max_size=12)


def arm(values: list[float], first: int = 1) -> dict[int, float]:
    return dict(enumerate(values, start=first))


def test_arms_of_the_same_seeds_are_paired() -> None:
    # differences 1, 2, 3: mean 2, SD 1, d_z = 2, J(2) = Γ(1)/(√1·Γ(1/2)) = 1/√π
    found = compare(arm([11, 22, 33]), arm([10, 20, 30]))
    assert found.test == "paired"
    assert found.difference.estimate == pytest.approx(2)
    assert found.hedges_g == pytest.approx(2 / math.sqrt(math.pi))
    result = scipy.stats.ttest_rel([11, 22, 33], [10, 20, 30])
    assert found.p == pytest.approx(result.pvalue)
    bounds = result.confidence_interval(0.95)
    assert (found.difference.low, found.difference.high) == pytest.approx((bounds.low, bounds.high))


def test_pairs_go_by_seed_and_not_by_place() -> None:
    a, b = {1: 1.0, 2: 5.0, 3: 9.0}, {3: 8.5, 1: 0.4, 2: 4.2}
    assert compare(a, b).difference.estimate == pytest.approx((0.6 + 0.8 + 0.5) / 3)


def test_a_missing_seed_leaves_the_rest_paired_and_strangers_are_not() -> None:
    a = arm([11.0, 22.0, 33.0, 40.0])
    assert compare(a, arm([10.0, 20.0, 30.0])).test == "paired"
    assert compare(a, arm([10.0, 20.0, 30.0, 35.0], first=3)).test == "Welch"
    assert compare(a, arm([10.0, 20.0, 30.0], first=10)).test == "Welch"


def test_welch_by_hand() -> None:
    a, b = [1.0, 2.0, 3.0], [2.0, 4.0, 6.0, 8.0]
    found = compare(arm(a), arm(b, first=10))
    assert found.difference.estimate == -3
    result = scipy.stats.ttest_ind(a, b, equal_var=False)
    assert found.p == pytest.approx(result.pvalue)
    pooled_sd = math.sqrt((2 * 1 + 3 * 20 / 3) / 5)
    j = math.gamma(2.5) / (math.sqrt(2.5) * math.gamma(2))
    assert found.hedges_g == pytest.approx(-3 / pooled_sd * j)


def test_three_seeds_that_lie_close_do_not_have_the_certainty_of_thirty() -> None:
    """Welch's own degrees of freedom are 29 here: as if the mean of three seeds were known exactly."""
    few, many = [30.0, 30.1, 29.9], [20.0 + 8 * (-1) ** seed for seed in range(30)]
    found = compare(arm(few), arm(many, first=10))
    # those of arms that vary alike
    degrees = (1 / 3 + 1 / 30) ** 2 / (1 / 3**2 / 2 + 1 / 30**2 / 29)
    result = scipy.stats.ttest_ind(few, many, equal_var=False)
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(result.statistic, degrees))
    assert found.p is not None and result.pvalue < 1e-6 < found.p
    half = (found.difference.high - found.difference.low) / 2
    assert half == pytest.approx(scipy.stats.t.isf(0.025, degrees) * 10 / result.statistic)


def test_pairing_sees_what_two_independent_arms_hide() -> None:
    draw = np.random.default_rng(4)
    common, noise = draw.normal(10, 3, 10), draw.normal(0, 0.1, 10)
    a, b = list(common + 0.3 + noise), list(common)
    paired, apart = compare(arm(a), arm(b)), compare(arm(a), arm(b, first=50))
    assert paired.p is not None and paired.p < 0.001
    assert apart.p is not None and apart.p > 0.5


@pytest.mark.parametrize("first", [1, 100])
def test_replicates_that_cannot_differ_are_not_tested(first: int) -> None:
    """Once these gave a Hedges' g of 29,208."""
    a, b = [512.0, 512.001, 512.002], [460.0, 460.001, 460.0]
    found = compare(arm(a), arm(b, first))
    assert (found.p, found.hedges_g, found.varies) == (None, None, False)
    assert state(found.difference, HARM, found.p) == SAME
    one = against(arm([0.7, 0.7, 0.7]), 0.5, "share")
    assert (one.p, one.hedges_g, state(one.difference, SHARE, one.p, 0.5)) == (None, None, SAME)


def test_two_seeds_have_a_difference_and_no_test() -> None:
    for first in (1, 10):
        found = compare(arm([1, 2]), arm([0, 3], first))
        assert found.p is None and math.isnan(found.difference.low)
        assert state(found.difference, SHARE, found.p) == "inconclusive"
    with pytest.raises(ValueError, match="finite"):
        compare(arm([1, math.nan]), arm([1, 2]))


@settings(deadline=None)
@given(VALUES, st.integers(-50, 50))
def test_the_other_way_round_is_the_same_with_the_sign_turned(values: list[float], shift: int) -> None:
    b = [float((value * 7 + shift) % 13) for value in values]
    one, other = compare(arm(values), arm(b)), compare(arm(b), arm(values))
    assert one.difference.estimate == pytest.approx(-other.difference.estimate)
    assert one.difference.low == pytest.approx(-other.difference.high)
    assert (one.p is None) == (other.p is None)
    assert one.p is None or one.p == pytest.approx(other.p)


@pytest.mark.parametrize(
    ("low", "high", "p", "expected"),
    [
        (-0.02, 0.03, 0.7, "equivalent"),
        # sure, and nobody's business
        (0.01, 0.03, 0.001, "equivalent"),
        (0.02, 0.09, 0.001, "different"),
        (-0.13, 0.71, 0.2, "inconclusive"),
        # told alone, and not among many
        (0.01, 0.4, 0.08, "inconclusive"),
        (math.nan, math.nan, None, "inconclusive"),
    ],
)
def test_the_three_states(low: float, high: float, p: float | None, expected: str) -> None:
    interval = Interval((low + high) / 2, low, high, 0.95, 5, "")
    assert state(interval, SHARE, p) == expected


@settings(deadline=None)
@given(st.floats(-1, 1), st.floats(0.001, 1), st.floats(0, 1), st.floats(0.001, 0.5))
def test_no_state_contradicts_the_interval(middle: float, half: float, p: float, margin: float) -> None:
    interval = Interval(middle, middle - half, middle + half, 0.95, 5, "")
    found = state(interval, Margin(-margin, margin, ""), p)
    if found == "equivalent":
        assert abs(middle) + half <= margin
    if found == "different":
        assert p <= 0.05 and abs(middle) + half > margin
