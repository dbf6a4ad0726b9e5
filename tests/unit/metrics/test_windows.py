"""Sliding windows, starvation and convergence, on traces whose truth is known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.metrics import convergence, starvation, windows
from cambrian.metrics.columns import NS_PER_MS, NS_PER_S
from tests.unit.metrics_frames import Row, in_order, steady

#: 1000-byte packets 1 ms apart: 8 Mbps
MS = NS_PER_MS


def rate(flow: int, mbps: float, from_s: float, to_s: float) -> list[Row]:
    """1000-byte packets at ``mbps``, from one time to another."""
    gap_ns = round(8e6 / mbps)
    count = round((to_s - from_s) * NS_PER_S / gap_ns)
    return steady(flow, count, gap_ns, first_ns=round(from_s * NS_PER_S))


def test_window_lengths() -> None:
    assert windows.length_ns(50) == NS_PER_S
    assert windows.length_ns(200) == 2 * NS_PER_S


def test_windows_of_a_steady_flow() -> None:
    seen = windows.sliding(in_order(rate(0, 8, 0, 3)), 2, NS_PER_S, 0, 3 * NS_PER_S)
    assert seen.start_ns.tolist() == [k * 100 * MS for k in range(21)]
    assert np.allclose(seen.throughput_mbps[0], 8)
    assert not seen.throughput_mbps[1].any()


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3000)), max_size=80),
    st.integers(0, 500),
    st.integers(1, 200),
)
def test_windows_count_what_a_loop_counts(sent: list[tuple[int, int]], t0: int, step: int) -> None:
    packets = in_order([(flow, time, time, 100, "departed") for flow, time in sent])
    seen = windows.sliding(packets, 3, 10 * step, t0, 3001)
    for index, start in enumerate(seen.start_ns):
        assert start + seen.length_ns <= 3001
        for flow in range(3):
            inside = sum(one == flow and start <= time < start + 10 * step for one, time in sent)
            assert seen.throughput_mbps[flow, index] == pytest.approx(inside * 800e3 / (10 * step))


def test_no_window_fits() -> None:
    seen = windows.sliding(in_order(rate(0, 8, 0, 1)), 1, NS_PER_S, 0, NS_PER_S - 1)
    assert seen.throughput_mbps.shape == (1, 0)
    with pytest.raises(ValueError, match="flow 1"):
        windows.sliding(in_order(rate(1, 8, 0, 3)), 1, NS_PER_S, 0, 3 * NS_PER_S)


def test_capacity_of_a_rate_that_changes() -> None:
    seen = windows.sliding(in_order(rate(0, 8, 0, 3)), 1, NS_PER_S, 0, 3 * NS_PER_S)
    capacity = windows.capacity_mbps([(0, 10.0), (NS_PER_S, 20.0)], seen)
    # whole in the first second, half in each, whole in the second
    assert capacity[[0, 5, 10, 20]].tolist() == pytest.approx([10, 15, 20, 20])


def test_starvation_of_a_silence() -> None:
    # 20 Mbps for two: fair is 10, the threshold 1. Flow 1 is silent from 4 to 7 s.
    packets = in_order(rate(0, 8, 0, 10), rate(1, 8, 0, 4), rate(1, 8, 7, 10))
    fed, starved = starvation.starvation(packets, 2, [(0, 20.0)], NS_PER_S, 0, 10 * NS_PER_S)
    assert (fed.share_of_time, fed.longest_ns) == (0, 0)
    # starving: windows with less than 1/8 s of the 8 Mbps, that start at 3.9 to 6.1 s: 23 of 91
    assert starved.longest_ns == 23 * 100 * MS
    assert starved.share_of_time == pytest.approx(23 / 91)


@settings(deadline=None)
@given(st.floats(0.05, 0.95))
def test_starvation_is_of_the_fair_share(share: float) -> None:
    packets = in_order(rate(0, 8, 0, 4), rate(1, 8 * share, 0, 4))
    found = starvation.starvation(
        packets, 2, [(0, 8.0)], NS_PER_S, 0, 4 * NS_PER_S, threshold=2 * share * 1.1
    )
    assert found[1].share_of_time == 1
    assert found[1].longest_ns == 31 * 100 * MS


def test_starvation_of_too_short_a_trial_is_unknown() -> None:
    assert starvation.starvation(in_order(rate(0, 8, 0, 1)), 2, [(0, 8.0)], NS_PER_S, 0, 10 * MS) == []


def test_convergence_is_found_to_a_step() -> None:
    # flow 1 joins at 10 s, has 1/9 until 17 s, then half
    packets = in_order(rate(0, 8, 0, 40), rate(1, 1, 10, 17), rate(1, 8, 17, 40))
    (join,) = convergence.convergence(packets, [0, 10 * NS_PER_S], 40 * NS_PER_S, NS_PER_S)
    assert (join.flow, join.start_ns, join.observed_ns) == (1, 10 * NS_PER_S, 30 * NS_PER_S)
    # Jain is 0.9 where the smaller has half: 1 + 7·x = 4, x = 3/7 s of 8 Mbps: the window that ends at 17.5 s
    assert join.time_ns == 7_500 * MS


def test_convergence_must_hold() -> None:
    # fair for 3 s only, then not
    packets = in_order(rate(0, 8, 0, 30), rate(1, 1, 10, 12), rate(1, 8, 12, 15), rate(1, 1, 15, 30))
    (join,) = convergence.convergence(packets, [0, 10 * NS_PER_S], 30 * NS_PER_S, NS_PER_S)
    assert join.time_ns is None
    shorter = convergence.convergence(
        packets, [0, 10 * NS_PER_S], 30 * NS_PER_S, NS_PER_S, hold_ns=2 * NS_PER_S
    )
    assert shorter[0].time_ns == 2_500 * MS


def test_each_join_that_is_long_enough_counts() -> None:
    starts = [0, 100 * MS, 20 * NS_PER_S]
    packets = in_order(rate(0, 8, 0, 40), rate(1, 8, 0.1, 40), rate(2, 8, 20, 40))
    joins = convergence.convergence(packets, starts, 40 * NS_PER_S, NS_PER_S)
    assert [(join.flow, join.time_ns) for join in joins] == [(1, NS_PER_S), (2, NS_PER_S)]
    assert convergence.convergence(packets, [0, 0, 0], 3 * NS_PER_S, NS_PER_S) == []
    # the third flow's silence before its start is no unfairness between the first two
    assert joins[0].observed_ns == starts[2] - starts[1]
    # a join with too little time before the next one leaves that the second
    (late,) = convergence.convergence(packets, [0, 19 * NS_PER_S, starts[2]], 40 * NS_PER_S, NS_PER_S)
    assert [(join.flow, join.place) for join in (*joins, late)] == [(1, 1), (2, 2), (2, 2)]


def test_a_join_without_room_for_the_holds_last_step_does_not_count() -> None:
    """Windows of 1.3 s are 0.13 s apart: 5 s are 39 steps, so two fair flows need 5.07 s and a window."""
    packets = in_order(rate(0, 8, 0, 20), rate(1, 8, 10, 20))
    starts = [0, 10 * NS_PER_S]
    assert convergence.convergence(packets, starts, 16_360 * MS, 1_300 * MS) == []
    (join,) = convergence.convergence(packets, starts, 16_370 * MS, 1_300 * MS)
    assert join.time_ns == 1_300 * MS


def test_convergence_of_nothing_is_not_reached() -> None:
    nothing = pl.DataFrame(schema=in_order(rate(0, 8, 0, 1)).schema)
    (join,) = convergence.convergence(nothing, [0, 0], 20 * NS_PER_S, NS_PER_S)
    assert join.time_ns is None
