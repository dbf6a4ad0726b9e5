"""Words of stacks become one vocabulary; what is not known is kept."""

from __future__ import annotations

import pytest

from cambrian.metrics.states import vocabulary


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("slow_start", "slow_start"),
        ("SlowStart", "slow_start"),
        ("CongestionAvoidanceMaxed", "congestion_avoidance_maxed"),
        ("ApplicationLimited", "application_limited"),
        ("cwr", "recovery"),
        ("fast_recovery", "recovery"),
        ("loss", "retransmission_timeout"),
        ("probe_bw_up", "probe_bw_up"),
        ("ProbeBW", "probe_bw"),
        ("probe-rtt", "probe_rtt"),
        ("hibernation", "unknown: hibernation"),
        ("ProbeBW_DOWN", "probe_bw_down"),
        ("ProbeBwUp", "probe_bw_up"),
        ("probe_bw:cruise", "probe_bw_cruise"),
    ],
)
def test_a_word_has_one_state(word: str, state: str) -> None:
    assert vocabulary.state_of(word) == state


def test_every_state_is_its_own_word() -> None:
    assert [vocabulary.state_of(state) for state in vocabulary.STATES] == list(vocabulary.STATES)


def test_states_stand_in_order_and_unknown_ones_last() -> None:
    mixed = ["unknown: x", "probe_rtt", "recovery", "startup", "slow_start"]
    assert vocabulary.order(mixed) == ["slow_start", "recovery", "startup", "probe_rtt", "unknown: x"]


@pytest.mark.parametrize(
    ("cca", "family", "first"),
    [
        ("bbr", "bbr", True),
        ("xquic-bbr", "bbr", True),
        ("bbr2_gcongestion", "bbr", False),
        ("bbr3", "bbr", False),
        ("newreno", "additive", False),
        ("cubic-beta-0.8", "additive", False),
        ("vegas", "other", False),
    ],
)
def test_families(cca: str, family: str, first: bool) -> None:
    assert (vocabulary.family(cca), vocabulary.is_first_bbr(cca)) == (family, first)


def test_phases_are_joined_only_where_the_other_has_none() -> None:
    phases = ["startup", "probe_bw_up", "probe_bw_down"]
    assert vocabulary.folding(phases, phases, is_inferred=False) == {}
    assert vocabulary.folding(["startup", "probe_bw"], ["probe_bw"], is_inferred=False) == {}
    joined = vocabulary.folding(phases, ["startup", "probe_bw"], is_inferred=False)
    assert joined["probe_bw_up"] == "probe_bw" and "startup" not in joined
    inferred = vocabulary.folding(["startup"], ["startup"], is_inferred=True)
    assert inferred == {"startup": "startup_and_drain", "drain": "startup_and_drain"}
