"""Payload at the bottleneck: frames less their headers, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.metrics import payload, throughput
from tests.unit.metrics_frames import frame, in_order, steady

MS = 1_000_000


def test_a_full_link_of_tcp_carries_1448_of_1514() -> None:
    packets = in_order(steady(0, 1000, MS, size=1514))
    frames_mbps = throughput.throughput(packets, 1, 0, 1000 * MS)["throughput_mbps"][0]
    assert payload.payload_mbps(packets, 0, "tcp", 0, 1000 * MS) == pytest.approx(frames_mbps * 1448 / 1514)


def test_a_full_link_of_quic_carries_udp_payload() -> None:
    packets = in_order(steady(0, 1000, MS, size=1392))
    frames_mbps = throughput.throughput(packets, 1, 0, 1000 * MS)["throughput_mbps"][0]
    assert payload.payload_mbps(packets, 0, "quic", 0, 1000 * MS) == pytest.approx(frames_mbps * 1350 / 1392)


def test_a_handshake_carries_nothing() -> None:
    """SYN (74 bytes) and ACK (66) have no data; one segment of 100 bytes in 1 µs is 800 Mbps."""
    packets = frame([(0, 0, 10, 74, "departed"), (0, 0, 20, 66, "departed"), (0, 0, 30, 166, "departed")])
    assert payload.payload_mbps(packets, 0, "tcp", 0, 1000) == pytest.approx(800)


def test_other_flows_drops_and_times_are_left_out() -> None:
    packets = frame(
        [
            (0, 0, 10, 142, "departed"),
            (1, 0, 20, 1514, "departed"),
            (0, 0, None, 1514, "dropped"),
            (0, 0, 1000, 1514, "departed"),
        ]
    )
    assert payload.payload_mbps(packets, 0, "quic", 0, 1000) == pytest.approx(800)


@given(st.lists(st.integers(60, 1514), min_size=1, max_size=50), st.sampled_from(["quic", "tcp"]))
def test_payload_is_within_the_frames(sizes: list[int], protocol: payload.Protocol) -> None:
    packets = frame([(0, at, at + 1, size, "departed") for at, size in enumerate(sizes)])
    carried = payload.payload_mbps(packets, 0, protocol, 0, 1000)
    assert 0 <= carried <= throughput.throughput(packets, 1, 0, 1000)["throughput_mbps"][0]


def test_the_mean_packet_is_an_ip_packet_of_those_that_left() -> None:
    packets = frame(
        [
            (0, 0, 10, 114, "departed"),
            (0, 1, 11, 314, "departed"),
            (0, 2, None, 1514, "dropped"),
            (0, 3, 100, 1514, "departed"),
            (1, 4, 12, 1514, "departed"),
        ]
    )
    assert payload.mean_packet_bytes(packets, 0, 0, 100) == 200
    assert payload.mean_packet_bytes(packets, 2, 0, 100) is None
