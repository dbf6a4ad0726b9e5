"""The end of a flow of fixed size: its completion time compared with the ideal, and its sender's silences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import BITS_PER_BYTE, NS_PER_MS, int64

#: frames that make the tail: a lost one among them may leave too few behind it to be noticed by
#: (packet threshold 3: RFC 9002 section 6.1.1, RFC 6675), so that only a timer finds it
TAIL_PACKETS = 10
#: round trips of an ideal transfer before its first byte: handshake and request
_ROUND_TRIPS = 2
#: how long a receiver may keep an ACK: Linux's TCP_DELACK_MIN; QUIC's default max_ack_delay is 25 ms
_ACK_DELAY_MS = 40


@dataclass(frozen=True)
class Tail:
    """Times in milliseconds. ``completion_ms``: from the flow's start to its last byte at the
    application. ``ideal_ms``: two round trips and its frames at the bottleneck's rate, no slow start.

    ``longest_gap_ms``: the sender's longest silence, seen at the queue, within its last
    :data:`TAIL_PACKETS` frames. ``timer_driven``: it was longer than a round trip (queue included)
    and a delayed ACK, so that no ACK ended it: a probe or retransmission timer did.
    ``after_last_drop_ms``: from the last queue drop to completion; None without one.
    """

    completion_ms: float
    ideal_ms: float
    longest_gap_ms: float | None
    timer_driven: bool
    after_last_drop_ms: float | None


def tail(
    packets: pl.DataFrame, *, start_ns: int, done_ns: int, rtt_ms: float, rate_mbps: float, wire_bytes: float
) -> Tail:
    """The tail of one complete flow.

    Parameters:
        packets: those of the flow alone.
        start_ns, done_ns: when its client started, and had all; after the trial's zero.
        rate_mbps: of the bottleneck. wire_bytes: the flow's bytes as frames, each sent once.
    """
    # what is sent later closes the connection
    sent = packets.filter(pl.col("arrival_ns") <= done_ns).sort("arrival_ns", maintain_order=True)
    last = sent.tail(TAIL_PACKETS)
    gaps = np.diff(int64(last, "arrival_ns"))
    longest_ms = float(gaps.max()) / NS_PER_MS if len(gaps) else None
    wait_ms = (last.select((pl.col("departure_ns") - pl.col("arrival_ns")).max()).item() or 0) / NS_PER_MS
    drops = int64(sent.filter(pl.col("outcome") == "dropped"), "arrival_ns")
    return Tail(
        completion_ms=(done_ns - start_ns) / NS_PER_MS,
        ideal_ms=_ROUND_TRIPS * rtt_ms + wire_bytes * BITS_PER_BYTE / rate_mbps / 1000,
        longest_gap_ms=longest_ms,
        timer_driven=longest_ms is not None and longest_ms > rtt_ms + wait_ms + _ACK_DELAY_MS,
        after_last_drop_ms=float(done_ns - drops.max()) / NS_PER_MS if len(drops) else None,
    )
