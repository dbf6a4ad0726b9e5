from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.stats.bootstrap import bootstrap
from cambrian.stats.compare import welch
from cambrian.stats.correction import benjamini_hochberg, holm
from cambrian.stats.exact import clopper_pearson, expected_count, median_interval
from cambrian.stats.stopping import StoppingRule

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@pytest.mark.parametrize("method", ["percentile", "BCa"])
@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_bootstrap_is_a_function_of_its_seed(method: str, statistic: str) -> None:
    values = np.random.default_rng(3).normal(10, 2, 15)
    one, same, other = (
        bootstrap(values, statistic=statistic, method=method, seed=seed)  # type: ignore[arg-type]
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one.low < one.estimate < one.high
    assert one.estimate == pytest.approx({"mean": values.mean(), "median": np.sort(values)[7]}[statistic])
    # A median resamples to few distinct values, so that two seeds may well agree on it.
    assert (one.low, one.high) != (other.low, other.high) or statistic == "median"


def test_bootstrap_of_one_trial_or_of_equal_trials() -> None:
    alone = bootstrap([4.0])
    assert math.isnan(alone.low)
    equal = bootstrap([4.0] * 5)
    assert (equal.low, equal.high, equal.half_width) == (4, 4, 0)
    with pytest.raises(ValueError, match="finite"):
        bootstrap([1.0, math.nan])


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_bootstrap_covers_about_as_often_as_it_says(method: str) -> None:
    draw = np.random.default_rng(5)
    hits = 0
    for i in range(60):
        interval = bootstrap(draw.normal(10, 2, 30), method=method, seed=i)  # type: ignore[arg-type]
        hits += interval.low <= 10 <= interval.high
    low, high = expected_count(60, 0.93, 0.999)
    assert low <= hits <= high


def test_clopper_pearson_by_hand() -> None:
    none = clopper_pearson(0, 10)
    assert none.low == 0
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 10))
    every = clopper_pearson(10, 10)
    assert every.low == pytest.approx(0.025 ** (1 / 10))
    with pytest.raises(ValueError, match="proportion"):
        clopper_pearson(3, 2)


def test_expected_count_by_hand() -> None:
    assert expected_count(4, 0.5, 0.8) == (1, 3)  # P(1..3) = 14/16, P(2) = 6/16
    assert expected_count(1000, 0.0) == (0, 0)


def test_median_interval_by_hand() -> None:
    # For n = 10 the 2nd and the 9th cover with 1 - 2·(1 + 10)/2¹⁰ = 97.9 %, the 3rd and 8th with 89.1 %.
    interval = median_interval([9, 1, 8, 2, 7, 3, 6, 4, 5, 10])
    assert (interval.low, interval.estimate, interval.high) == (2, 5.5, 9)
    assert math.isnan(median_interval([1, 2, 3, 4, 5]).low)
    six = median_interval([1, 2, 3, 4, 5, 6])
    assert (six.low, six.high) == (1, 6)


def test_welch_by_hand() -> None:
    a, b = [1.0, 2.0, 3.0], [2.0, 4.0, 6.0, 8.0]
    result = welch(a, b)
    se2 = 1 / 3 + (20 / 3) / 4
    assert result.difference == -3
    assert result.t == pytest.approx(-3 / math.sqrt(se2))
    assert result.df == pytest.approx(se2**2 / ((1 / 3) ** 2 / 2 + ((20 / 3) / 4) ** 2 / 3))
    pooled_sd = math.sqrt((2 * 1 + 3 * 20 / 3) / 5)
    j = math.gamma(2.5) / (math.sqrt(2.5) * math.gamma(2))
    assert result.hedges_g == pytest.approx(-3 / pooled_sd * j)
    assert result.low < -3 < result.high
    back = welch(b, a)
    assert back.difference == 3
    assert back.p == pytest.approx(result.p)


def test_welch_without_any_variation() -> None:
    same, apart = welch([1, 1], [1, 1]), welch([1, 1], [2, 2])
    assert (same.p, same.hedges_g) == (1, 0)
    assert (apart.p, apart.hedges_g) == (0, -math.inf)
    with pytest.raises(ValueError, match="two trials"):
        welch([1], [1, 2])


def test_corrections_by_hand() -> None:
    p = [0.04, 0.01, 0.03]
    assert holm(p).tolist() == pytest.approx([0.06, 0.03, 0.06])
    assert benjamini_hochberg(p).tolist() == pytest.approx([0.04, 0.03, 0.04])
    assert len(holm([])) == len(benjamini_hochberg([])) == 0
    with pytest.raises(ValueError, match="NaN"):
        holm([0.1, math.nan])


@given(P_VALUES)
@settings(max_examples=50)
def test_corrections_only_raise_and_holm_is_the_stricter(p: list[float]) -> None:
    fwer, fdr = holm(p), benjamini_hochberg(p)
    assert np.all(fwer >= np.array(p) - 1e-12)
    assert np.all(fdr >= np.array(p) - 1e-12)
    assert np.all(fwer >= fdr - 1e-12)
    assert np.all(fwer <= 1)
    order = np.argsort(p, kind="stable")
    assert np.all(np.diff(fwer[order]) >= 0)


def test_stopping_rule() -> None:
    rule = StoppingRule(min_seeds=6, max_seeds=8, half_width=0.5)
    assert not rule.decide([]).stop
    assert not rule.decide([5.0] * 5).stop
    narrow = rule.decide([5.0, 5.1, 4.9, 5.2, 4.8, 5.0])
    assert narrow.stop
    assert "narrow enough" in narrow.reason
    assert not rule.decide([1, 2, 3, 4, 5, 6.0]).stop
    most = rule.decide([1, 2, 3, 4, 5, 6, 7, 8.0])
    assert most.stop
    assert "not narrow enough" in most.reason
    # One arm short, one long: the median is not within ± 0.5.
    assert not rule.decide([5, 5, 5, 5, 5, 5.9]).stop
    with pytest.raises(ValueError, match="min_seeds"):
        StoppingRule(5, 4, 1)
