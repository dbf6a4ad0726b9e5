"""Bytes delivered twice: known headers, headers read off, and what is open."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from cambrian.metrics.payload import HEADER_BYTES
from cambrian.metrics.recovery import Delivery, redundancy
from cambrian.metrics.recovery.redundancy import QUIC_HEADER_BYTES
from tests.unit.metrics_frames import Row, frame, steady

MS = 1_000_000
S = 1000 * MS
SECONDS = 20


def full_frames(per_second: int = 100) -> pl.DataFrame:
    gap = S // per_second
    return frame(steady(0, SECONDS * per_second, gap, size=1514, first_ns=gap))


def reports(payload: float, per_second: int = 100, wasted: int = 0, from_s: int = 5) -> Delivery:
    """A report a second; ``wasted`` frames of each second from ``from_s`` on bring nothing new."""
    seconds = np.arange(1, SECONDS + 1)
    useful = per_second * seconds - wasted * np.maximum(seconds - from_s, 0)
    return Delivery(seconds * S, np.round(useful * payload).astype(np.int64))


def test_tcp_without_waste_is_nothing_exactly() -> None:
    found = redundancy(full_frames(), reports(1514 - HEADER_BYTES["tcp"]), HEADER_BYTES["tcp"])
    assert found is not None
    assert (found.redundant_bytes, found.low_bytes, found.high_bytes, found.exact) == (0, 0, 0, True)
    assert found.goodput_percent == pytest.approx(100 * 1448 / 1514)


def test_tcp_waste_is_counted_to_the_byte() -> None:
    found = redundancy(full_frames(), reports(1448, wasted=2), HEADER_BYTES["tcp"])
    assert found is not None
    # of the last five reports the earliest has least left over: 16 s, 11 seconds of waste
    assert found.until_ns == 16 * S
    assert found.redundant_bytes == found.low_bytes == found.high_bytes == 22 * 1448


def test_segments_that_wait_for_a_gap_are_not_wasted() -> None:
    on_time = reports(1448)
    received = on_time.received_bytes.copy()
    received[-2:] -= 50 * 1448
    found = redundancy(full_frames(), Delivery(on_time.time_ns, received), HEADER_BYTES["tcp"])
    assert found is not None
    assert found.redundant_bytes == 0


def test_syns_carry_no_data() -> None:
    syn: list[Row] = [(0, 1, 2, 74, "departed")]
    packets = pl.concat([frame(syn), full_frames()])
    found = redundancy(packets, reports(1448), HEADER_BYTES["tcp"])
    assert found is not None
    assert found.redundant_bytes == 0


def test_a_steady_quic_header_is_read_off() -> None:
    found = redundancy(full_frames(), reports(1514 - 75), None)
    assert found is not None
    assert found.header_bytes == pytest.approx(75)
    assert not found.exact
    assert found.low_bytes == 0
    assert found.redundant_bytes == pytest.approx(0, abs=SECONDS)


def test_waste_that_varies_shows_beyond_any_header() -> None:
    seconds = np.arange(1, SECONDS + 1)
    wasted = np.cumsum(np.where(seconds % 2, 0, 20))
    received = (100 * seconds - wasted) * 1440
    found = redundancy(full_frames(), Delivery(seconds * S, received), None)
    assert found is not None
    assert (found.header_bytes) == sum(QUIC_HEADER_BYTES) / 2
    truth = wasted[found.until_ns // S - 1] * 1440
    assert found.low_bytes < truth < found.high_bytes
    assert found.low_bytes > 0


def test_too_few_reports_leave_the_whole_range_open() -> None:
    one = reports(1440)
    found = redundancy(full_frames(), Delivery(one.time_ns[-1:], one.received_bytes[-1:]), None)
    assert found is not None
    assert found.low_bytes == 0
    assert found.high_bytes == pytest.approx(100 * SECONDS * (1514 - QUIC_HEADER_BYTES[0] - 1440))


def test_reports_before_any_departure_say_nothing() -> None:
    early = Delivery(np.array([1], np.int64), np.array([0], np.int64))
    assert redundancy(full_frames(), early, HEADER_BYTES["tcp"]) is None


def test_a_receiver_that_reports_more_than_has_come_says_nothing() -> None:
    honest = reports(1448)
    lying = Delivery(honest.time_ns, honest.received_bytes * 10)
    assert redundancy(full_frames(), lying, HEADER_BYTES["tcp"]) is None
    assert redundancy(full_frames(), lying, None) is None


@pytest.mark.parametrize("overhead", [149, 249, 370])
def test_padding_large_headers_and_constant_waste_cannot_be_told_apart(overhead: int) -> None:
    assert redundancy(full_frames(), reports(1514 - overhead), None) is None
    assert redundancy(full_frames(), reports(1440, wasted=10, from_s=0), None) is None


def test_random_padding_is_no_waste_in_long_and_in_short_flows() -> None:
    padding = np.random.default_rng(1).integers(0, 300, (SECONDS, 100)).sum(axis=1)
    received = np.cumsum(100 * (1514 - 80) - padding)
    times = np.arange(1, SECONDS + 1) * S
    for last in (SECONDS, 3, 1):
        assert redundancy(full_frames(), Delivery(times[:last], received[:last]), None) is None


def test_everything_sent_twice_is_waste() -> None:
    found = redundancy(full_frames(), reports(1440, wasted=50, from_s=0), None)
    assert found is not None
    assert 0.2 * found.delivered_bytes < found.low_bytes < found.redundant_bytes + 8_001


def test_repetitions_of_every_second_that_vary_are_waste() -> None:
    wasted = np.cumsum(np.tile([10, 30, 60, 20], SECONDS // 4))
    seconds = np.arange(1, SECONDS + 1)
    found = redundancy(full_frames(), Delivery(seconds * S, (100 * seconds - wasted) * 1440), None)
    assert found is not None
    truth = wasted[found.until_ns // S - 1] * 1440
    assert 0.3 * truth < found.low_bytes < truth
    assert found.redundant_bytes == pytest.approx(truth, rel=0.1)


def test_a_report_before_the_first_data_covers_nothing() -> None:
    """As on a path of 2 s, whose receiver reports each second: a handshake's bytes are no application's."""
    late = frame(steady(0, 150, 10 * MS, size=1514, first_ns=4 * S))
    found = redundancy(late, Delivery(np.array([3, 5]) * S, np.array([0, 100 * 1430])), None)
    assert found is not None and found.until_ns == 5 * S
