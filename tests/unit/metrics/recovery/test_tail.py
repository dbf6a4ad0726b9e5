"""How a flow of fixed size ends."""

from __future__ import annotations

import pytest

from cambrian.metrics.recovery import tail
from tests.unit.metrics_frames import Row, frame, steady

MS = 1_000_000


def test_a_clean_tail() -> None:
    packets = frame(steady(0, 50, MS, size=1250, first_ns=100 * MS))
    found = tail(packets, start_ns=0, done_ns=149 * MS, rtt_ms=50, rate_mbps=10, wire_bytes=50 * 1250)
    assert found.completion_ms == 149
    # two round trips, and 50 frames of 1 ms
    assert found.ideal_ms == pytest.approx(150)
    assert found.longest_gap_ms == 1
    assert not found.timer_driven
    assert found.after_last_drop_ms is None


def test_a_lost_last_packet_waits_for_a_timer() -> None:
    lost: list[Row] = [(0, 150 * MS, None, 1250, "dropped")]
    probe: list[Row] = [(0, 270 * MS, 270 * MS, 1250, "departed")]
    closing: list[Row] = [(0, 900 * MS, 900 * MS, 80, "departed")]
    packets = frame(steady(0, 50, MS, size=1250, first_ns=100 * MS) + lost + probe + closing)
    found = tail(packets, start_ns=0, done_ns=270 * MS, rtt_ms=50, rate_mbps=10, wire_bytes=51 * 1250)
    assert found.longest_gap_ms == 120
    assert found.timer_driven
    assert found.after_last_drop_ms == 120


def test_a_silence_before_the_tail_is_none_of_it() -> None:
    rows = steady(0, 50, MS, first_ns=100 * MS) + steady(0, 10, MS, first_ns=500 * MS)
    found = tail(frame(rows), start_ns=0, done_ns=509 * MS, rtt_ms=50, rate_mbps=10, wire_bytes=60_000)
    assert found.longest_gap_ms == 1


def test_a_full_queue_or_a_delayed_ack_is_no_timer() -> None:
    rows = steady(0, 50, MS, delay_ns=40 * MS, first_ns=100 * MS)
    # silent for 128 ms: 40 in the queue, 50 of round trip, 40 of ACK delay could be behind that
    rows += steady(0, 1, MS, first_ns=(149 - 40 + 128) * MS)
    found = tail(frame(rows), start_ns=0, done_ns=300 * MS, rtt_ms=50, rate_mbps=10, wire_bytes=60_000)
    assert found.longest_gap_ms == 128
    assert not found.timer_driven
