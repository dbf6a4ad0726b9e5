"""Max-min fair shares, harm, RTT-unfairness and transitivity, by hand and by property."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.metrics.harm import harm
from cambrian.metrics.loss import queue_loss_ratios
from cambrian.metrics.maxmin import max_min, share_of_fair
from cambrian.metrics.rtt_fairness import exponent, pooled
from cambrian.metrics.transitivity import transitivity
from tests.unit.metrics_frames import frame

DEMANDS = st.lists(st.one_of(st.floats(0, 100), st.just(math.inf)), min_size=1, max_size=12)


def test_max_min_by_hand() -> None:
    assert max_min(10, [math.inf, math.inf]).tolist() == [5, 5]
    assert max_min(10, [2, 8, 10]).tolist() == [2, 4, 4]
    # the textbook's: demands 2, 2.6, 4, 5 at a capacity of 10
    assert max_min(10, [2, 2.6, 4, 5]).tolist() == pytest.approx([2, 2.6, 2.7, 2.7])
    assert max_min(100, [2, 8]).tolist() == [2, 8]
    assert max_min(0, [2, 8]).tolist() == [0, 0]
    assert max_min(12, [math.inf, math.inf, 1], [1, 2, 1]).tolist() == pytest.approx([11 / 3, 22 / 3, 1])


@settings(deadline=None)
@given(st.floats(0, 500), DEMANDS, st.data())
def test_max_min_is_the_water_level(capacity: float, demands: list[float], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.floats(0.1, 10), min_size=len(demands), max_size=len(demands)))
    given_out = max_min(capacity, demands, weights)
    assert np.all(given_out <= np.array(demands) + 1e-9)
    assert given_out.sum() == pytest.approx(min(capacity, sum(demands)), abs=1e-6)
    # whoever is not met stands at one level, and nobody above it
    levels = given_out / np.array(weights)
    unmet = given_out < np.array(demands) - 1e-9
    if unmet.any():
        assert levels[unmet] == pytest.approx(np.full(unmet.sum(), levels.max()), abs=1e-6)


def test_max_min_refuses_nonsense() -> None:
    for capacity, demands, weights in ((1, [], None), (1, [-1], None), (1, [1], [0]), (math.inf, [1], None)):
        with pytest.raises(ValueError, match=r"demand|capacity"):
            max_min(capacity, demands, weights)


def test_share_of_the_fair_share() -> None:
    assert share_of_fair([15, 4], 20).tolist() == [1.5, 0.4]
    assert share_of_fair([2, 9], 20, [2, math.inf]).tolist() == [1, 0.5]
    assert math.isnan(share_of_fair([0, 9], 20, [0, math.inf])[0])


def test_harm_by_hand() -> None:
    assert harm(20, 5, more_is_better=True) == 0.75
    assert harm(10, 40, more_is_better=False) == 0.75
    assert harm(20, 25, more_is_better=True) == -0.25
    assert harm(0, 3, more_is_better=False) == 1
    assert harm(0, 0, more_is_better=False) == 0
    assert math.isnan(harm(3, 0, more_is_better=False))
    with pytest.raises(ValueError, match="not negative"):
        harm(-1, 1, more_is_better=True)


@settings(deadline=None)
@given(st.floats(0.01, 1e6), st.floats(0.01, 1e6), st.floats(0.01, 100))
def test_harm_has_no_unit_and_one_direction(alone: float, competing: float, scale: float) -> None:
    for better in (True, False):
        found = float(harm(alone, competing, more_is_better=better))
        assert found == pytest.approx(float(harm(scale * alone, scale * competing, more_is_better=better)))
        assert found <= 1
    worse = float(harm(alone, competing, more_is_better=True))
    assert worse == pytest.approx(float(harm(competing, alone, more_is_better=False)))


@settings(deadline=None)
@given(st.floats(0.1, 3), st.floats(1.2, 20))
def test_rtt_exponent_is_recovered(power: float, ratio: float) -> None:
    found = exponent((50, 50 * ratio), (8 * ratio**power, 8))
    assert found == pytest.approx(power)
    assert exponent((50 * ratio, 50), (8, 8 * ratio**power)) == pytest.approx(power)


def test_rtt_exponent_may_be_unknown() -> None:
    assert math.isnan(exponent((50, 50), (8, 9)))
    assert math.isnan(exponent((50, 100), (8, 0)))


def test_pooled_exponent_is_the_slope_through_the_origin() -> None:
    ratios, logs = [2.0, 8.0], np.log([2.0, 8.0])
    exponents = [np.array([0.5, 1.0]), np.array([1.5, 1.0])]
    slope = [float(np.linalg.lstsq(logs[:, None], logs * [e[k] for e in exponents])[0][0]) for k in (0, 1)]
    assert pooled(ratios, exponents).tolist() == pytest.approx(slope)
    with pytest.raises(ValueError, match="other than 1"):
        pooled([1.0], [np.array(1.0)])


def test_an_order_is_transitive() -> None:
    found = transitivity([("a", "b"), ("b", "c"), ("a", "c")])
    assert (found.transitive, found.open, found.cycles, found.knots) == (1, 0, (), ())


def test_rock_paper_scissors() -> None:
    found = transitivity([("paper", "rock"), ("rock", "scissors"), ("scissors", "paper")])
    assert (found.transitive, found.open) == (0, 0)
    assert found.cycles == (("paper", "rock", "scissors"),)
    assert found.knots == (("paper", "rock", "scissors"),)


def test_a_longer_cycle_is_a_knot_without_a_triple() -> None:
    found = transitivity([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("d", "e")])
    assert found.cycles == ()
    assert found.knots == (("a", "b", "c", "d"),)
    assert (found.transitive, found.open) == (0, 5)


def test_wins_must_not_contradict() -> None:
    assert transitivity([]).knots == ()
    for wins in ([("a", "a")], [("a", "b"), ("b", "a")]):
        with pytest.raises(ValueError, match="cannot each beat"):
            transitivity(wins)


@settings(deadline=None)
@given(st.permutations("abcdef"), st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5))))
def test_no_cycle_in_any_part_of_an_order(order: list[str], chosen: set[tuple[int, int]]) -> None:
    found = transitivity((order[one], order[two]) for one, two in chosen if one < two)
    assert (found.cycles, found.knots) == ((), ())


def test_queue_loss_of_an_interval_goes_by_arrival() -> None:
    packets = frame(
        [
            (0, 0, None, 100, "dropped"),
            (0, 10, 15, 100, "departed"),
            (0, 11, None, 100, "dropped"),
            (0, 12, 40, 100, "departed"),
            (0, 13, None, 100, "queued"),
            (1, 20, None, 100, "dropped"),
        ]
    )
    assert queue_loss_ratios(packets, 3, 10, 20) == [0.25, None, None]
    assert queue_loss_ratios(packets, 2, 0, 21) == [0.4, 1]
