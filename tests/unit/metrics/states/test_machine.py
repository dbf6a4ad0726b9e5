"""Intervals, time in state and transitions, by hand."""

from __future__ import annotations

from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from cambrian.metrics.states.machine import Machine, intervals, machine
from cambrian.metrics.states.sequence import sequence
from tests.unit.metrics.states.traces import MS, trace, words


def test_time_in_state_and_transitions() -> None:
    said = words(
        (0, "slow_start"),
        (100, "recovery"),
        (150, "congestion_avoidance"),
        (400, "recovery"),
        (500, "recovery"),
    )
    found = machine(said, 0, "cubic", 1000 * MS)
    assert found is not None
    assert found.time_ns == {
        "slow_start": 100 * MS,
        "recovery": 650 * MS,
        "congestion_avoidance": 250 * MS,
    }
    assert found.transitions == {
        ("slow_start", "recovery"): 1,
        ("recovery", "congestion_avoidance"): 1,
        ("congestion_avoidance", "recovery"): 1,
    }
    assert found.shares["recovery"] == pytest.approx(0.65)
    assert found.per_s(("slow_start", "recovery")) == pytest.approx(1.0)
    assert (found.source, found.inferred_share) == ("exported", 0)


def test_a_state_is_stated_once_an_instant() -> None:
    said = words((0, "startup"), (10, "drain"), (10, "probe_bw"), (20, "probe_bw"))
    found = machine(said, 0, "bbr", 30 * MS)
    assert found is not None
    assert found.transitions == {("startup", "probe_bw"): 1}


def test_rows_at_or_after_the_end_do_not_count() -> None:
    found = machine(words((0, "startup"), (50, "drain")), 0, "bbr", 50 * MS)
    assert found is not None and found.time_ns == {"startup": 50 * MS}
    assert machine(words((50, "startup")), 0, "bbr", 50 * MS) is None


def test_unknown_words_are_kept() -> None:
    found = machine(words((0, "slow_start"), (10, "hibernation")), 0, "cubic", 20 * MS)
    assert found is not None
    assert found.time_ns == {"slow_start": 10 * MS, "unknown: hibernation": 10 * MS}


def test_nothing_exported_is_not_available() -> None:
    nothing = trace([{"time_ns": 0, "srtt_us": 50_000}, {"time_ns": 1}])
    assert machine(nothing, 0, "cubic", 10) is None
    assert machine(words((0, "startup")), 1, "bbr", 10) is None


def test_a_missing_column_is_named() -> None:
    with pytest.raises(ValueError, match="ssthresh_bytes"):
        machine(words((0, "startup")).drop("ssthresh_bytes"), 0, "bbr", 10)


def test_folding_joins_times_and_drops_inner_transitions() -> None:
    found = Machine(
        {"probe_bw_up": 3, "probe_bw_down": 5, "probe_rtt": 2},
        {
            ("probe_bw_up", "probe_bw_down"): 4,
            ("probe_bw_down", "probe_rtt"): 1,
            ("probe_rtt", "probe_bw_up"): 1,
        },
        0.0,
    ).folded({"probe_bw_up": "probe_bw", "probe_bw_down": "probe_bw"})
    assert found.time_ns == {"probe_bw": 8, "probe_rtt": 2}
    assert found.transitions == {("probe_bw", "probe_rtt"): 1, ("probe_rtt", "probe_bw"): 1}


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.sampled_from(["slow_start", "recovery", "congestion_avoidance"])),
        min_size=1,
        max_size=40,
    )
)
def test_intervals_cover_the_time_once(said: list[tuple[int, str]]) -> None:
    found = sequence(words(*sorted(said, key=lambda one: one[0])), 0, "cubic")
    assert found is not None
    end_ns = 60 * MS
    held = intervals(found, end_ns).to_dicts()
    assert held[0]["from_ns"] == min(at for at, _ in said) * MS
    assert held[-1]["to_ns"] == end_ns
    for one, other in pairwise(held):
        assert one["to_ns"] == other["from_ns"] and one["state"] != other["state"]
    summed = machine(words(*sorted(said, key=lambda one: one[0])), 0, "cubic", end_ns)
    assert summed is not None
    assert sum(summed.time_ns.values()) == end_ns - held[0]["from_ns"]
    assert sum(summed.transitions.values()) == len(held) - 1


def test_a_bbr_without_a_window_is_not_inferred() -> None:
    rows = [{"time_ns": n * MS, "event": "ack", "cwnd_bytes": 0, "in_flight_bytes": 0} for n in range(9)]
    assert machine(trace(rows), 0, "bbr", 10 * MS) is None
