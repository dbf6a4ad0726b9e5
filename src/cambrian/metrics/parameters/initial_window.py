"""Initial window: packets sent before the first data can have been acknowledged (RFC 9002, section 7.2).

In packets of the first flight's size. Two effects make the count uncertain. A sender stops when a whole
packet no longer fits, or only once the window is full, so the window may be one packet larger or smaller. And
acknowledgements of QUIC's handshake may have raised it before.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from cambrian.metrics.columns import BITS_PER_BYTE
from cambrian.metrics.parameters.beginning import Beginning, beginning
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import frame_bytes

KEY = "initial_window_packets"
#: sizes that are no whole number of packets: of a window in bytes, and of TLS in the first packet
_ROUNDING_PACKETS = 0.1
#: larger packets than this, in usual ones, are probes of the path's MTU, which senders count or not
_PROBE_RATIO = 1.05
#: payload under which a packet is none that a window is counted in: RFC 9000 section 14 has 1,200 bytes of
#: UDP at least, and TCP's over Ethernet is larger
_SMALL_PACKET_BYTES = 1_100
#: pacing that would have had to go on: the silence after the flight, in usual gaps of it
_SILENCE_GAPS = 1.5


def estimate(trace: FlowTrace) -> Iterator[Estimate | Missing]:
    """The initial window, from the first flight, and from the exported window if there is one."""
    begun = beginning(trace)
    if begun is None:
        why = "the flow sends only a first flight, or its handshake lost packets"
        yield Missing(KEY, why, "packets")
        if trace.has_window:
            yield Missing(KEY, why, "window")
        return
    if begun.packet_bytes < _SMALL_PACKET_BYTES:
        # the window is counted in bytes, of packets as large as the path takes
        sources: tuple[Source, ...] = ("window", "packets") if trace.has_window else ("packets",)
        for source in sources:
            yield Missing(KEY, "the first flight has only small packets", source)
        return
    yield _from_packets(trace, begun)
    if trace.has_window:
        yield _from_window(trace, begun)


def _from_packets(trace: FlowTrace, begun: Beginning) -> Estimate | Missing:
    if not trace.steady or trace.random_loss:
        lost = "packets are lost before the capture point"
        return Missing(KEY, lost if trace.random_loss else trace.changing, "packets")
    if not begun.limited or _paced_on(begun):
        return Missing(
            KEY, "pacing spreads the initial window over more than the first round trip", "packets"
        )
    if _is_slow(trace):
        return Missing(KEY, "the link takes a round trip or more for each packet", "packets")
    sizes = begun.sizes_bytes
    counted = int(sizes[sizes <= _PROBE_RATIO * begun.packet_bytes].sum())
    if begun.handshake_bytes >= counted:
        why = "the handshake's acknowledgements may have let out the whole first flight"
        return Missing(KEY, why, "packets")
    # a window holds a packet at least
    low = max(1.0, (counted - begun.handshake_bytes) / begun.packet_bytes - 1)
    high = sizes.sum() / begun.packet_bytes + 1
    return Estimate(KEY, (float(low + high) / 2,), float(high - low) / 2, "packets")


def _is_slow(trace: FlowTrace) -> bool:
    """Does one packet take the link a round trip? Then a handshake's rounds last several of the path's."""
    if trace.rate_mbps is None:
        return False
    return frame_bytes(trace) * BITS_PER_BYTE * 1000 >= trace.rate_mbps * trace.rtt_ns


def _paced_on(begun: Beginning) -> bool:
    """Was the flight still under way when its round trip was over?"""
    gaps_ns = np.diff(begun.arrival_ns)
    spread = gaps_ns[gaps_ns > 0.01 * np.max(gaps_ns, initial=0)]
    if begun.arrival_ns[-1] - begun.start_ns < 0.5 * (begun.next_ns - begun.start_ns) or not len(spread):
        return False
    return bool(begun.next_ns - begun.arrival_ns[-1] < _SILENCE_GAPS * np.median(spread))


def _from_window(trace: FlowTrace, begun: Beginning) -> Estimate | Missing:
    first = trace.transport.filter(pl.col("cwnd_bytes").is_not_null()).row(0, named=True)
    if first["time_ns"] > begun.start_ns + trace.back_ns:
        return Missing(KEY, "the stack exports its window only after data was acknowledged")
    value = first["cwnd_bytes"] / begun.packet_bytes
    if value < 1:
        return Missing(KEY, f"the log's first window is {first['cwnd_bytes']} bytes, in another unit")
    # acknowledgements of the handshake can only have raised it, and a window holds a packet at least
    grown = 0.0 if first["event"] == "start" else begun.handshake_bytes / begun.packet_bytes
    least = max(1.0, value - grown)
    return Estimate(KEY, (float(value + least) / 2,), float(value - least) / 2 + _ROUNDING_PACKETS, "window")
