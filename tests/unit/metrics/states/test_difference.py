"""Two machines side by side, with hand-computed shares and distances."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import pytest
from hypothesis import given

from cambrian.metrics.states.difference import difference, total_variation
from cambrian.metrics.states.machine import Machine, combined
from cambrian.metrics.states.pooled import pooled
from cambrian.metrics.states.wording import percent, sentences
from cambrian.stats.states import SAME

S = 1_000_000_000
_UP = ("congestion_avoidance", "recovery")
_BACK = ("recovery", "congestion_avoidance")


def _machine(recovery_s: int, **more: object) -> Machine:
    """100 s, of which some in recovery, two events."""
    times = {"congestion_avoidance": (100 - recovery_s) * S, "recovery": recovery_s * S}
    return Machine(times, {_UP: 2, _BACK: 2}, 0.0, **more)  # type: ignore[arg-type]


def test_pooled_means_are_over_trials() -> None:
    found = pooled([_machine(10), _machine(20), _machine(30)])
    recovery = next(one for one in found.states if one.state == "recovery")
    assert recovery.share.estimate == pytest.approx(0.2)
    assert 0 < recovery.share.low < 0.2 < recovery.share.high < 1
    assert recovery.entries_per_s == pytest.approx(0.02)
    assert [(one.transition, one.count, one.trials) for one in found.transitions] == [
        (_UP, 6, 3),
        (_BACK, 6, 3),
    ]
    assert found.transitions[0].per_s == pytest.approx(0.02)


def test_two_trials_have_no_interval() -> None:
    found = pooled([_machine(10), _machine(20)])
    assert math.isnan(found.states[0].share.low)
    with pytest.raises(ValueError, match="at least one"):
        pooled([])


def test_shares_differ_pair_by_pair() -> None:
    reference = {1: _machine(3), 2: _machine(4), 3: _machine(5)}
    test = {1: _machine(13), 2: _machine(14), 3: _machine(16)}
    found = difference(test, reference)
    assert found is not None
    recovery = next(one for one in found.states if one.state == "recovery")
    assert recovery.difference.estimate == pytest.approx(0.31 / 3)
    assert recovery.verdict == "different"
    # pairs of different seeds: 13-4, 13-5, 14-3, 14-5, 16-3, 16-4 of a hundred
    assert found.time_distance.estimate == pytest.approx((9 + 8 + 11 + 9 + 13 + 12) / 600)
    assert found.floor_time_distance == pytest.approx((1 + 2 + 1) / 300)
    assert found.time_excess is not None and found.time_excess.low > 0
    assert found.transition_distance == 0
    assert sentences(found, "the kernel") == [
        "spends 86 % of its time in congestion avoidance, the kernel 96 %",
        "spends 14 % of its time in recovery, the kernel 4.0 %",
    ]


def test_few_seeds_are_inconclusive_and_say_so() -> None:
    found = difference({1: _machine(13), 2: _machine(14)}, {1: _machine(3), 2: _machine(5)})
    assert found is not None
    assert {one.verdict for one in found.states} == {"inconclusive"}
    assert sentences(found, "the kernel") == ["is inconclusive in congestion avoidance, recovery"]


def test_what_is_the_same_in_every_seed_is_said_and_not_tested() -> None:
    seeds = (1, 2, 3)
    found = difference({seed: _machine(13) for seed in seeds}, {seed: _machine(3) for seed in seeds})
    assert found is not None
    assert {one.verdict for one in found.states} == {SAME}
    said = sentences(found, "the kernel")
    assert said[1] == "spends 13 % of its time in recovery, the kernel 3.0 % (the same in every seed)"
    same = difference({seed: _machine(3) for seed in seeds}, {seed: _machine(3) for seed in seeds})
    assert same is not None and sentences(same, "the kernel") == []


def test_the_trials_of_a_seed_are_one_machine() -> None:
    both = combined([_machine(10), _machine(30)])
    assert both.shares == pytest.approx({"congestion_avoidance": 0.8, "recovery": 0.2})
    assert both.transitions == {_UP: 4, _BACK: 4}


def test_a_state_that_one_trial_may_hide_counts_as_the_other() -> None:
    way = ("probe_bw", "probe_rtt")
    told = Machine({"probe_bw": 98 * S, "probe_rtt": 2 * S}, {way: 1}, 1.0)
    hidden = Machine({"probe_bw": 100 * S}, {}, 1.0, uncertain=frozenset({"probe_rtt"}))
    both = combined([told, hidden])
    assert both.time_ns == {"probe_bw": 200 * S} and both.uncertain == {"probe_rtt"}
    # a seed that may hide it says nothing of its share
    shares = {one.state: one.share.estimate for one in pooled([told, hidden]).states}
    assert shares == pytest.approx({"probe_bw": 0.98, "probe_rtt": 0.02})
    seeds = (1, 2, 3)
    found = difference(dict.fromkeys(seeds, told), dict.fromkeys(seeds, hidden))
    assert found is not None and [one.state for one in found.states] == ["probe_bw"]
    assert sentences(found, "the kernel") == []


def test_shares_and_difference_are_of_the_same_seeds() -> None:
    """Seed 1 shows ProbeRTT, the others may hide it: once it is joined to ProbeBW, all four count."""
    hidden = frozenset({"probe_rtt"})
    test = {1: Machine({"startup": 50 * S, "probe_bw": 50 * S}, {}, 1.0)} | {
        seed: Machine({"startup": 10 * S, "probe_bw": 90 * S}, {}, 1.0, uncertain=hidden)
        for seed in (2, 3, 4)
    }
    reference = {seed: Machine({"startup": 10 * S, "probe_bw": 90 * S}, {}, 1.0) for seed in (1, 2, 3, 4)}
    found = difference(test, reference)
    assert found is not None
    for one in found.states:
        assert one.test - one.reference == pytest.approx(one.difference.estimate)
    assert found.states[0].test == pytest.approx(0.2)


def test_ways_that_only_one_takes() -> None:
    rare = Machine({"slow_start": S, "recovery": S}, {("slow_start", "recovery"): 1}, 0.0)
    plain = {seed: _machine(50) for seed in (1, 2, 3)}
    found = difference({1: rare, 2: rare, 3: _machine(50)}, plain)
    assert found is not None
    assert found.only_test == (("slow_start", "recovery"),)
    assert found.only_reference == ()
    # one seed in three is no habit, and two seeds show none
    once = difference({1: rare, 2: _machine(50), 3: _machine(50)}, plain)
    assert once is not None and once.only_test == ()
    few = difference({1: rare, 2: rare}, plain)
    assert few is not None and few.only_test == ()
    alone = difference(plain, {1: _machine(50)})
    assert alone is not None and alone.floor_time_distance is None and alone.time_excess is None


def test_what_the_other_cannot_tell_is_left_out_and_said() -> None:
    times = {"congestion_avoidance": 80 * S, "recovery": 10 * S, "application_limited": 10 * S}
    ways = {
        _UP: 1,
        ("recovery", "application_limited"): 1,
        ("application_limited", "congestion_avoidance"): 1,
    }
    seeds = (1, 2, 3)
    test = {seed: Machine(times, ways, 0.0) for seed in seeds}
    silent = {seed: _machine(10, unobservable=frozenset({"application_limited"})) for seed in seeds}
    found = difference(test, silent)
    assert found is not None
    assert [one.state for one in found.states] == ["congestion_avoidance", "recovery"]
    assert found.states[1].test == pytest.approx(10 / 90)
    assert found.only_test == () and found.transition_distance is None
    assert sentences(found, "the kernel")[-1] == (
        "is in application limited for 10 % of the time, a state that the log of the kernel cannot show"
    )
    # the way back leads through the state that is left out, and is no other way
    assert found.only_reference == ()
    # where both are by our rule they compare
    ruled = {
        seed: Machine(times, ways, 0.1, unobservable=frozenset({"application_limited"})) for seed in seeds
    }
    same = difference(ruled, silent)
    assert same is not None and same.left_out == ()
    assert same.states[1].state == "application_limited" and same.states[1].test == pytest.approx(0.1)
    # who could have told, and has none, differs
    told = difference(test, {seed: _machine(10) for seed in seeds})
    assert told is not None and told.left_out == ()
    assert ("recovery", "application_limited") in told.only_test


def test_different_detail_is_joined() -> None:
    phases = Machine(
        {"probe_bw_up": 5 * S, "probe_bw_down": 5 * S}, {("probe_bw_up", "probe_bw_down"): 9}, 0.0
    )
    plain = Machine({"startup": S, "drain": S, "probe_bw": 8 * S}, {("startup", "drain"): 1}, 1.0)
    found = difference({1: phases}, {1: plain})
    assert found is not None
    assert [one.state for one in found.states] == ["startup_and_drain", "probe_bw"]
    assert [one.test for one in found.states] == [0, 1]
    assert [one.reference for one in found.states] == pytest.approx([0.2, 0.8])


def test_nothing_to_compare() -> None:
    assert difference({}, {1: _machine(1)}) is None
    only = Machine({"tail_loss_probe": S}, {}, 0.0)
    assert difference({1: only}, {1: _machine(1, unobservable=frozenset({"tail_loss_probe"}))}) is None


_SHARES = st.dictionaries(st.sampled_from("abcde"), st.floats(0.01, 1), min_size=1).map(
    lambda weights: {key: weight / sum(weights.values()) for key, weight in weights.items()}
)


@given(_SHARES, _SHARES, _SHARES)
def test_total_variation_is_a_distance(
    one: dict[str, float], two: dict[str, float], three: dict[str, float]
) -> None:
    assert total_variation(one, one) == 0
    assert total_variation(one, two) == pytest.approx(total_variation(two, one))
    assert total_variation(one, three) <= total_variation(one, two) + total_variation(two, three) + 1e-9
    assert 0 <= total_variation(one, two) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "none"), (0.0004, "less than 0.1 %"), (0.031, "3.1 %"), (0.5, "50 %"), (1, "100.0 %")],
)
def test_percents(share: float, text: str) -> None:
    assert percent(share) == text
