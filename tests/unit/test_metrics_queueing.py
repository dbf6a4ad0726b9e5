from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.metrics.queueing import (
    binned_occupancy,
    delay_summary,
    max_occupancy_bytes,
    occupancy,
    queue_on_arrival,
)
from tests.unit.metrics_frames import bottleneck, frame, in_order, steady

MS = 1_000_000

OFFERED = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3_000), st.integers(60, 1514)), min_size=1, max_size=80
).map(lambda offered: sorted(offered, key=lambda packet: packet[1]))


def test_delay_is_departure_minus_arrival_per_flow() -> None:
    packets = in_order(steady(0, 10, MS, delay_ns=2 * MS), steady(1, 30, MS, delay_ns=5 * MS))
    summary = delay_summary(packets)
    assert summary["flow"].to_list() == [0, 1, None]
    assert summary["mean_ms"].to_list() == pytest.approx([2.0, 5.0, (10 * 2 + 30 * 5) / 40])
    assert summary["packets"].to_list() == [10, 30, 40]


def test_percentiles_interpolate() -> None:
    packets = frame([(0, i, i + i * MS, 100, "departed") for i in range(101)])  # 0, 1, … 100 ms
    row = delay_summary(packets).row(0, named=True)
    assert (row["p50_ms"], row["p95_ms"], row["p99_ms"], row["max_ms"]) == (50, 95, 99, 100)


def test_delay_summary_takes_only_the_interval() -> None:
    packets = frame([(0, 0, 10, 100, "departed"), (0, 5, 20, 100, "departed"), (0, 6, None, 9, "dropped")])
    assert delay_summary(packets, 11, 21)["packets"].to_list() == [1, 1]
    assert delay_summary(packets, 0, 21)["max_ms"].to_list() == pytest.approx([1.5e-5] * 2)


def test_occupancy_by_hand() -> None:
    packets = frame(
        [
            (0, 10, 20, 100, "departed"),
            (1, 15, 30, 200, "departed"),
            (0, 20, None, 400, "queued"),
            (0, 25, None, 800, "dropped"),
            (0, 40, 40, 50, "departed"),
        ]
    )
    assert occupancy(packets).rows() == [
        (10, 100, 1),
        (15, 300, 2),
        (20, 600, 2),
        (30, 400, 1),
        (40, 400, 1),
    ]
    assert max_occupancy_bytes(packets) == 600
    found = queue_on_arrival(packets)
    assert found.most.tolist() == [0, 100, 300, 600, 400]
    assert found.least.tolist() == [0, 100, 200, 600, 350]  # at 40 the last packet itself has left


def test_a_queue_that_is_not_first_in_first_out() -> None:
    # fq_codel and its like: the large packet that came first leaves last.
    packets = frame([(0, 0, 90, 1500, "departed"), (1, 1, 20, 100, "departed"), (1, 30, 40, 60, "departed")])
    assert queue_on_arrival(packets).most.tolist() == [0, 1500, 1500]
    assert occupancy(packets)["occupancy_bytes"].to_list() == [1500, 1600, 1500, 1560, 1500, 0]


def test_an_empty_capture_has_no_occupancy() -> None:
    assert max_occupancy_bytes(frame([])) == 0
    assert binned_occupancy(frame([]), 10, 0, 20).rows() == [(0, 0.0, 0), (10, 0.0, 0)]


def test_binned_occupancy_weights_by_time() -> None:
    packets = frame([(0, 5, 25, 100, "departed"), (0, 10, 15, 60, "departed")])
    bins = binned_occupancy(packets, 10, 0, 30)
    assert bins.rows() == [(0, 50.0, 100), (10, 130.0, 160), (20, 50.0, 100)]


@given(OFFERED, st.integers(1, 900), st.integers(0, 2000))
def test_binned_occupancy_agrees_with_looking_at_every_nanosecond(
    offered: list[tuple[int, int, int]], bin_ns: int, t0_ns: int
) -> None:
    packets = bottleneck(offered, byte_ns=1, limit_bytes=4000, burst_bytes=1514)
    level, levels, changes = 0, [], {time: occupied for time, occupied, _ in occupancy(packets).rows()}
    for now in range(t0_ns + 2 * bin_ns):
        level = changes.get(now, level)
        levels.append(level)
    bins = binned_occupancy(packets, bin_ns, t0_ns, t0_ns + 2 * bin_ns)
    for i, (start, mean, peak) in enumerate(bins.rows()):
        inside = levels[t0_ns + i * bin_ns : t0_ns + (i + 1) * bin_ns]
        assert start == t0_ns + i * bin_ns
        assert mean == pytest.approx(sum(inside) / bin_ns)
        assert peak == max(inside)


@given(OFFERED, st.integers(1514, 8000))
def test_occupancy_is_never_negative_and_within_the_limit(
    offered: list[tuple[int, int, int]], limit: int
) -> None:
    packets = bottleneck(offered, byte_ns=1, limit_bytes=limit, burst_bytes=1514)
    series = occupancy(packets)
    assert (series["occupancy_bytes"] >= 0).all()
    assert (series["occupancy_bytes"] <= limit).all()
    stayed = packets.filter(pl.col("outcome") == "queued")["size_bytes"].cast(pl.Int64).sum()
    if series.height:
        assert series["occupancy_bytes"][-1] == stayed
    found = queue_on_arrival(packets)
    assert (found.least >= 0).all()
    assert (found.least <= found.most).all()


@given(OFFERED, st.integers(1, 1_000_000))
def test_delay_and_occupancy_do_not_depend_on_when_the_clock_started(
    offered: list[tuple[int, int, int]], shift: int
) -> None:
    packets = bottleneck(offered, byte_ns=1, limit_bytes=5000, burst_bytes=1514)
    moved = packets.with_columns(pl.col("arrival_ns", "departure_ns") + shift)
    assert delay_summary(moved).equals(delay_summary(packets))
    assert occupancy(moved).with_columns(pl.col("time_ns") - shift).equals(occupancy(packets))
