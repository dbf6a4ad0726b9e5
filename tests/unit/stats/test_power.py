"""How many more seeds: against published tables, by hand and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from cambrian.stats import power
from cambrian.stats.compare import against
from cambrian.stats.interval import Interval
from cambrian.stats.states import SHARE, Margin


def student(mean: float, sd: float, n: int) -> Interval:
    """Student's interval of n values of exactly this mean and SD."""
    arm = float(scipy.stats.t.isf(0.025, n - 1)) * sd / math.sqrt(n)
    return Interval(mean, mean - arm, mean + arm, 0.95, n, "")


@pytest.mark.parametrize(("effect", "trials"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_differences_need_about_what_the_tables_say(effect: float, trials: int) -> None:
    # two-sided, α = 0.05, power 0.8: Cohen (1988) and G*Power, by the noncentral t
    for sign in (1, -1):
        found = power.to_settle(student(sign * effect, 1, 5), None)
        assert found.more is not None and abs(found.more + 5 - trials) <= 1


def test_a_hint_keeps_its_promise() -> None:
    """With as many seeds as it asks for, 80 % of studies tell."""
    hint = power.to_settle(student(0.6, 1, 6), None)
    assert hint.more is not None
    draw = np.random.default_rng(2)
    told = [
        (against(dict(enumerate(draw.normal(0.6, 1, 6 + hint.more))), 0).p or 1) <= 0.05 for _ in range(2_000)
    ]
    assert np.mean(told) == pytest.approx(0.8, abs=0.03)


def test_a_correction_needs_more_seeds_to_tell_but_none_to_be_equivalent() -> None:
    # by the noncentral t: 80 % at α = 0.05/12 from 8 seeds on (73 % with 7, 86 % with 8)
    found = student(1.99, 1, 4)
    assert power.to_settle(found, None, level=0.05 / 12).more == 4
    power_of_8 = scipy.stats.nct.sf(scipy.stats.t.isf(0.05 / 24, 7), 7, 1.99 * math.sqrt(8))
    assert power_of_8 == pytest.approx(0.86, abs=0.01)
    inside = student(0.001, 0.05, 5)
    assert power.to_settle(inside, SHARE, level=0.05 / 12) == power.to_settle(inside, SHARE)
    # no p is small enough: only equivalence counts
    wide = student(0.03, 0.02, 5)
    assert power.to_settle(wide, SHARE).state == "different"
    assert power.to_settle(wide, SHARE, level=0).state == "equivalent"
    assert power.to_settle(found, None, level=0).more is None
    with pytest.raises(ValueError, match="level"):
        power.to_settle(found, None, level=0.2)


def test_what_lies_in_the_margin_may_be_settled_as_equivalent() -> None:
    # 0.001 from none would take thousands of seeds to tell; within ± 0.05 it soon is
    found = power.to_settle(student(0.001, 0.05, 5), SHARE)
    assert found.more is not None and found.more < 20
    assert power.to_settle(student(0.001, 0.05, 5), None).more is None
    # the nearer end counts
    assert (power.to_settle(student(0.5 + 0.02, 0.05, 5), SHARE, 0.5).more or 0) > found.more


def test_nothing_is_promised_where_nothing_is_known() -> None:
    for hint in (
        power.to_shrink(Interval(1, math.nan, math.nan, 0.95, 3, ""), 1),
        power.to_settle(Interval(1, math.nan, math.nan, 0.95, 3, ""), SHARE),
        power.to_settle(Interval(1, 0, 2, 0.95, 2, ""), SHARE),
    ):
        assert hint.more is None
        assert "too few" in hint.sentence
    assert power.to_settle(student(0, 1, 5), None).more is None
    assert power.to_settle(student(1, 1, 5), Margin(-1, 1, ""), null=0).more is not None
    with pytest.raises(ValueError, match="power"):
        power.to_settle(student(1, 1, 5), None, power=1)


def test_intervals_shrink_with_the_root_of_the_trials() -> None:
    wide = Interval(10, 9, 12, 0.95, 10, "")
    assert power.to_shrink(wide, 1).more == 30  # the longer arm, 2, halved
    assert power.to_shrink(wide, 2).more == 0
    # a study may have as many seeds
    assert power.to_shrink(Interval(10, 9, 11, 0.95, 2_000, ""), 0.5).more == 6_000
    assert "more than 10,000" in power.to_shrink(Interval(10, 9, 11, 0.95, 2_000, ""), 0.1).sentence
    with pytest.raises(ValueError, match="half_width"):
        power.to_shrink(wide, 0)
