"""The beginning of a flow: its handshake, and the packets before the first acknowledgement of data.

With QUIC, and with TCP without TLS, the request reaches the sender 1.5 round trips after the flow's start, so
the first data is at the bottleneck's queue after two. Longer handshakes (TLS over TCP, a Retry) have short
flights in their later rounds. The following round distinguishes them from data: a sender limited by its
window does not much more than double from one round to the next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cambrian.metrics.columns import SMALLEST_DATA_BYTES, Int64Array, int64
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import OVERHEAD_BYTES

#: the round in which the first data may come, and the last that is looked at
_FIRST_ROUND = 2
_LAST_ROUND = 5
#: rounds that are looked at, of flights that are spread over many as well
_SEEN_ROUNDS = 20
#: a server's flights in a handshake are shorter: certificates
_MOST_HANDSHAKE_PACKETS = 8
#: slow start doubles, and acknowledgements of the handshake add to it
_MOST_GROWTH = 2.25
_MOST_GROWTH_PACKETS = 2
#: a flow that sends less than this share of its first flight in the next round had no more to send
_LEAST_GROWTH = 0.25
#: of what the clocks of the endpoints and the guest may differ by
_SLACK_NS = 1_000_000


@dataclass(frozen=True)
class Beginning:
    """The first flight of data: what arrived in the round trip from its first frame on.

    ``start_ns``: its first frame's arrival at the queue. ``arrival_ns``, ``sizes_bytes``: of each
    of its data frames, in order; sizes are payloads, as a window counts. ``packet_bytes``: the
    usual payload in it. ``handshake_bytes``: payload that was sent before, whose acknowledgements
    may have raised the window already. ``next_ns``: the first arrival of data after it.
    ``limited``: what follows agrees with a window that held it back.
    """

    start_ns: int
    arrival_ns: Int64Array
    sizes_bytes: Int64Array
    packet_bytes: int
    handshake_bytes: int
    next_ns: int
    limited: bool


def beginning(trace: FlowTrace) -> Beginning | None:
    """The first flight of data; None if the flow sent no more, or its handshake lost packets."""
    end_ns = trace.start_ns + _SEEN_ROUNDS * trace.rtt_ns
    early = replace(trace, packets=trace.packets.filter(pl.col("arrival_ns") < end_ns))
    rounds = (_in_round(early, number) for number in range(_FIRST_ROUND, _LAST_ROUND + 1))
    found = [candidate for candidate in rounds if candidate is not None]
    return next((one for one in found if one.limited or len(one.sizes_bytes) > _MOST_HANDSHAKE_PACKETS), None)


def _in_round(trace: FlowTrace, number: int) -> Beginning | None:
    everything_ns, sizes = int64(trace.packets, "arrival_ns"), int64(trace.packets, "size_bytes")
    is_data = sizes >= SMALLEST_DATA_BYTES
    arrival_ns, payload_bytes = everything_ns[is_data], sizes[is_data] - OVERHEAD_BYTES[trace.protocol]
    first = int(np.searchsorted(everything_ns, trace.start_ns + number * trace.rtt_ns - _SLACK_NS))
    if first == len(everything_ns):
        return None
    start_ns = int(everything_ns[first])
    edges_ns = [start_ns, start_ns + trace.rtt_ns, start_ns + 2 * trace.rtt_ns]
    begin, end, after = (int(edge) for edge in np.searchsorted(arrival_ns, edges_ns))
    if begin == end or end == len(arrival_ns):
        return None
    packet_bytes = _most_common(payload_bytes[begin:end])
    sent, sent_then = int(payload_bytes[begin:end].sum()), int(payload_bytes[end:after].sum())
    # a handshake that lost packets has rounds of its own
    lost = (trace.packets["outcome"].head(first) == "dropped").any()
    if lost or sent_then < _LEAST_GROWTH * sent:
        return None
    return Beginning(
        start_ns=start_ns,
        arrival_ns=arrival_ns[begin:end],
        sizes_bytes=payload_bytes[begin:end],
        packet_bytes=packet_bytes,
        # TCP's handshake carries no data
        handshake_bytes=int(payload_bytes[:begin].sum()) if trace.protocol == "quic" else 0,
        next_ns=int(arrival_ns[end]),
        limited=sent_then <= _MOST_GROWTH * sent + _MOST_GROWTH_PACKETS * packet_bytes,
    )


def _most_common(sizes_bytes: Int64Array) -> int:
    values, counts = np.unique(sizes_bytes, return_counts=True)
    return int(values[np.argmax(counts)])
