"""Trains: packets that leave together, released by an acknowledgement or by a timer.

A sender without pacing answers each acknowledgement at once, so its packets arrive at the queue one
RTT after an earlier packet departed. Packets that arrive at other times were released by a pacer's timer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import BITS_PER_BYTE, SMALLEST_DATA_BYTES, Int64Array, int64
from cambrian.metrics.parameters.flow_trace import FlowTrace

#: packets this close belong to one train: one go of a sender's loop. Less where the link is fast
TOGETHER_NS = 20_000
_TOGETHER_SERVICE = 0.25
#: an answer comes this soon after its acknowledgement: what a sender needs, late timers included
ANSWER_NS = 60_000


@dataclass(frozen=True)
class Trains:
    """In order of arrival.

    ``start_ns``: the first packet's arrival at the queue. ``packets``, ``frame_bytes``: how
    many, and the sum of their sizes.
    """

    start_ns: Int64Array
    packets: Int64Array
    frame_bytes: Int64Array

    def __len__(self) -> int:
        return len(self.start_ns)

    def between(self, t0_ns: int, t1_ns: int) -> Trains:
        """Those that start in [t0_ns, t1_ns)."""
        chosen = slice(*np.searchsorted(self.start_ns, [t0_ns, t1_ns]))
        return Trains(self.start_ns[chosen], self.packets[chosen], self.frame_bytes[chosen])


def trains(trace: FlowTrace, together_ns: float | None = None) -> Trains:
    """The flow's data, in trains; none without data.

    ``together_ns``: most ns between two packets of a train; by default that of one go of a sender's loop.
    """
    arrival_ns, size_bytes = int64(trace.packets, "arrival_ns"), int64(trace.packets, "size_bytes")
    data = size_bytes >= SMALLEST_DATA_BYTES
    if not data.all():
        arrival_ns, size_bytes = arrival_ns[data], size_bytes[data]
    if not len(arrival_ns):
        empty = np.empty(0, np.int64)
        return Trains(empty, empty, empty)
    together_ns = together(trace, size_bytes) if together_ns is None else together_ns
    first = np.flatnonzero(np.concatenate(([True], np.diff(arrival_ns) > together_ns)))
    sent = np.cumsum(size_bytes)
    last = np.concatenate((first[1:], [len(arrival_ns)])) - 1
    return Trains(
        start_ns=arrival_ns[first],
        packets=np.diff(first, append=len(arrival_ns)),
        frame_bytes=np.diff(sent[last], prepend=0),
    )


def lags_ns(trace: FlowTrace, found: Trains) -> Int64Array:
    """Time of each train after the last acknowledgement that can have come before; huge before the first."""
    departed = trace.packets.filter(
        (pl.col("outcome") == "departed") & (pl.col("size_bytes") >= SMALLEST_DATA_BYTES)
    )
    acknowledged_ns = np.sort(int64(departed, "departure_ns"), kind="stable") + trace.rtt_ns
    before = np.searchsorted(acknowledged_ns, found.start_ns, side="right") - 1
    # an acknowledgement that never came was long ago
    lags: Int64Array = found.start_ns - np.concatenate((acknowledged_ns, [-(2**60)]))[before]
    return lags


def together(trace: FlowTrace, size_bytes: Int64Array) -> float:
    """Packets or rows that are no farther apart than this, in ns, belong together: less on a fast link."""
    if trace.rate_mbps is None:
        return TOGETHER_NS
    service_ns = float(np.median(size_bytes)) * BITS_PER_BYTE * 1000 / trace.rate_mbps
    return min(TOGETHER_NS, _TOGETHER_SERVICE * service_ns)
