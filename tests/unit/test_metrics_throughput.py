from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.metrics.completion import flow_spans
from cambrian.metrics.throughput import (
    binned_throughput,
    rate_peak,
    throughput,
    total_throughput_mbps,
)
from tests.unit.metrics_frames import frame, in_order, steady

MS = 1_000_000
S = 1_000_000_000


def test_throughput_counts_departures_in_a_half_open_interval() -> None:
    packets = frame(
        [
            (0, 0, 1 * MS, 1000, "departed"),
            (0, 1, 2 * MS, 1500, "departed"),
            (0, 2, 4 * MS, 700, "departed"),  # at t1: not counted
            (0, 3, None, 1514, "dropped"),
            (0, 4, None, 1514, "queued"),
        ]
    )
    result = throughput(packets, 1, 1 * MS, 4 * MS)
    # 2500 bytes = 20000 bits in 3 ms
    assert result["throughput_mbps"].to_list() == pytest.approx([20000 / 3e-3 / 1e6])
    assert result["packets"].to_list() == [2]


def test_each_flow_gets_its_own_figure() -> None:
    # Two flows of different rates: were they swapped or mixed, the figures would tell.
    packets = in_order(steady(0, 100, 1 * MS, size=1250), steady(1, 50, 2 * MS, size=500))
    result = throughput(packets, 3, 0, 100 * MS)
    assert result["flow"].to_list() == [0, 1, 2]
    assert result["throughput_mbps"].to_list() == pytest.approx([10.0, 2.0, 0.0])
    assert total_throughput_mbps(packets, 0, 100 * MS) == pytest.approx(12.0)
    bins = binned_throughput(packets, 3, 20 * MS, 0, 100 * MS)
    for flow, mbps in ((0, 10.0), (1, 2.0), (2, 0.0)):
        mine = bins.filter(pl.col("flow") == flow)
        assert mine["throughput_mbps"].to_list() == pytest.approx([mbps] * 5)
        assert mine["time_ns"].to_list() == [0, 20 * MS, 40 * MS, 60 * MS, 80 * MS]


def test_many_full_frames_do_not_overflow_their_column() -> None:
    packets = frame(steady(0, 1000, MS, size=1514))
    assert throughput(packets, 1, 0, S)["size_bytes"].to_list() == [1_514_000]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 999_999), st.integers(60, 1514)), max_size=60))
def test_bins_and_totals_carry_the_same_bytes(sent: list[tuple[int, int, int]]) -> None:
    packets = frame([(flow, t, t, size, "departed") for flow, t, size in sorted(sent, key=lambda x: x[1])])
    whole = throughput(packets, 3, 0, MS)
    bins = binned_throughput(packets, 3, MS // 8, 0, MS).group_by("flow", maintain_order=True).mean()
    assert bins["throughput_mbps"].to_list() == pytest.approx(whole["throughput_mbps"].to_list())
    assert whole["throughput_mbps"].sum() == pytest.approx(total_throughput_mbps(packets, 0, MS))
    assert whole["packets"].sum() == len(sent)


def test_the_peak_of_a_rate_tells_a_constant_one_from_one_that_probes() -> None:
    trip, end = 50_000_000, 20_000_000_000
    gap = 800_000  # 62 packets a round trip
    constant = steady(0, end // gap, gap)
    assert rate_peak(frame(constant), 0, 0, end, trip) == pytest.approx(1.0, abs=0.02)
    # bursts of four are no probe
    bursts = [(0, at - at % (4 * gap), at, size, outcome) for _, at, _, size, outcome in constant]
    assert rate_peak(frame(bursts), 0, 0, end, trip) == pytest.approx(1.0, abs=0.1)
    # a quarter more for one round trip
    probe = [
        (0, 9 * 10**9 + 4 * gap * n + 1, 9 * 10**9 + 4 * gap * n + 2, 1000, "departed") for n in range(16)
    ]
    probing = frame(sorted([*constant, *probe], key=lambda row: row[1]))
    assert rate_peak(probing, 0, 0, end, trip) == pytest.approx(1.25, abs=0.03)
    # too short, silent for more than half of it, another flow
    assert rate_peak(probing, 0, 0, 9_900_000_000, trip) is None
    assert rate_peak(probing, 0, 0, end, end // 99) is None
    assert rate_peak(probing, 0, 0, 3 * end, trip) is None
    assert rate_peak(probing, 1, 0, end, trip) is None


def test_errors_name_what_is_wrong() -> None:
    packets = frame(steady(2, 3, MS))
    with pytest.raises(ValueError, match="empty"):
        throughput(packets, 1, 5, 5)
    with pytest.raises(ValueError, match="flow 2"):
        binned_throughput(packets, 2, MS, 0, 10 * MS)
    with pytest.raises(ValueError, match="departure_ns"):
        throughput(packets.drop("departure_ns"), 1, 0, 5)


def test_flow_spans() -> None:
    packets = frame([(1, 5, 9, 100, "departed"), (1, 6, None, 100, "dropped")])
    spans = flow_spans(packets, 2)
    assert spans.row(0) == (0, 0, None, None, None)
    assert spans.row(1) == (1, 2, 5, 6, 9)


def test_a_span_ends_when_the_receiver_has_everything() -> None:
    """The packets at 70 and 75 repeat what has arrived."""
    times = [(0, 5, 9), (0, 70, 71), (0, 75, None), (1, 5, 9), (1, 70, 71)]
    packets = frame([(*one, 100, "dropped" if one[2] is None else "departed") for one in times])
    spans = flow_spans(packets, 2, [20, None])
    assert spans.row(0) == (0, 1, 5, 5, 9)
    assert spans.row(1) == (1, 2, 5, 70, 71)
