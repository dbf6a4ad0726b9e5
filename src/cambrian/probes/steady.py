"""What a flow alone carries, what that costs in queue and losses, and in packets of which size."""

from __future__ import annotations

import numpy as np

from cambrian.metrics.columns import NS_PER_MS, NS_PER_S, int64, to_mbps
from cambrian.probes.figures import Figure, Unseen
from cambrian.probes.seen import Seen

#: a frame of at least this share of the flow's largest is full
FULL = 0.9


def carried_mbps(seen: Seen) -> Figure | Unseen:
    """Throughput at the bottleneck (frames) once the flow had settled."""
    span_ns = seen.trace.end_ns - seen.settled_ns
    if span_ns <= 0:
        return Unseen("the trial ends before the flow has settled")
    waited = int64(seen.carried, "departure_ns") - int64(seen.carried, "arrival_ns")
    trip_s = (seen.trace.rtt_ns + (float(waited.mean()) if len(waited) else 0.0)) / NS_PER_S
    return Figure(to_mbps(float(int64(seen.carried, "size_bytes").sum()), span_ns), 1, trip_s=trip_s)


def delay_ms(seen: Seen) -> Figure | Unseen:
    """Mean queueing delay of the packets that left the bottleneck."""
    if not seen.carried.height:
        return Unseen("nothing left the bottleneck once the flow should have settled")
    waited = int64(seen.carried, "departure_ns") - int64(seen.carried, "arrival_ns")
    return Figure(float(waited.mean()) / NS_PER_MS, 1)


def usual_frame_bytes(seen: Seen) -> Figure | Unseen:
    """Median frame, by bytes carried: half of the bytes travel in frames of at least this size."""
    if not len(seen.sizes_bytes):
        return Unseen("the flow sent nothing once it should have settled")
    sizes = np.sort(seen.sizes_bytes)
    carried = np.cumsum(sizes)
    return Figure(float(sizes[np.searchsorted(carried, carried[-1] / 2)]), len(sizes))


def full_percent(seen: Seen) -> Figure | Unseen:
    """Percentage of the packets that are full, of all that a bulk flow sends."""
    if not len(seen.sizes_bytes):
        return Unseen("the flow sent nothing once it should have settled")
    full = seen.sizes_bytes >= FULL * seen.sizes_bytes.max()
    return Figure(100 * float(full.mean()), len(seen.sizes_bytes))
