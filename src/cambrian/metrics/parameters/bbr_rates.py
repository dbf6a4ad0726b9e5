"""The sending rate of a BBR flow on a regular grid of time: from its pacing rate, or from packets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import BITS_PER_BYTE, NS_PER_S, FloatArray, Int64Array, departed, int64
from cambrian.metrics.parameters.estimate import Source
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import OVERHEAD_BYTES

#: Startup and Drain are over by then, and the filter of the largest bandwidth has forgotten them
WARM_UP_ROUNDS = 40
#: points of the grid in a round trip
POINTS_A_ROUND = 8
#: a cycle's level is this quantile over so many round trips, three of BBR's cycles of eight: probing
#: takes an eighth of a cycle above it, and draining, where it lasts until the queue is gone, most of one
LEVEL_ROUNDS, LEVEL_QUANTILE = 24, 0.7
#: packets from arrivals are counted over this part of a round trip, or this many packets
COUNTED_ROUNDS = 0.25
COUNTED_PACKETS = 8
#: packets closer than this part of a packet's time on the bottleneck left together
TRAIN_SHARE = 0.25
#: a log may have rows for changes of the window alone. Where packets leave this much faster than the last row
#: allows, and that row is older than this part of a round trip, the rate has changed since then.
FASTER, OLD_ROUNDS = 1.08, 0.5


@dataclass(frozen=True)
class Rates:
    """``rate_bps[i]`` at ``time_ns[i]`` (of sending), evenly apart; NaN where it is unknown.

    ``unit_bps``: the bottleneck's rate in the same unit: datagram payloads where the stack tells
    its pacing rate, frames where packets were counted. ``edge_points``: points at either end of
    a change that the change blurs. ``level_bps``: what cruising is in the cycles around.
    ``waited_ns``: how long the bottleneck's queue kept the last packet before that; 0 by pacing.
    """

    time_ns: Int64Array
    rate_bps: FloatArray
    level_bps: FloatArray
    waited_ns: Int64Array
    unit_bps: float
    edge_points: int
    source: Source

    @property
    def ratio(self) -> FloatArray:
        """The rate over the level around it."""
        return self.rate_bps / np.maximum(self.level_bps, 1.0)


def paced(trace: FlowTrace, rate_mbps: float, frame_bytes: int, sent: Rates | None) -> Rates | None:
    """The pacing rate that the stack exports; None without one.

    ``rate_mbps``: the bottleneck's. ``frame_bytes``: the flow's full frame. ``sent``: its rate by
    packets, which shows where the log has missed a change.
    """
    told = trace.transport.filter(pl.col("pacing_bps") > 0)
    if not told.height or not frame_bytes:
        return None
    told_ns = int64(told, "time_ns")
    step_ns = trace.rtt_ns // POINTS_A_ROUND
    time_ns = np.arange(told_ns[0], trace.end_ns, step_ns)
    last = np.searchsorted(told_ns, time_ns, side="right") - 1
    rate_bps = int64(told, "pacing_bps")[last].astype(np.float64)
    payload = (frame_bytes - OVERHEAD_BYTES[trace.protocol]) / frame_bytes
    if sent is not None:
        sent_bps = payload * np.interp(time_ns, sent.time_ns, sent.rate_bps)
        is_old = time_ns - told_ns[last] > OLD_ROUNDS * trace.rtt_ns
        rate_bps[is_old & (sent_bps > FASTER * rate_bps)] = np.nan
    return Rates(
        time_ns=time_ns,
        rate_bps=rate_bps,
        level_bps=level_bps(rate_bps),
        waited_ns=np.zeros(len(time_ns), np.int64),
        unit_bps=rate_mbps * 1e6 * payload,
        edge_points=0,
        source="window",
    )


def counted(trace: FlowTrace, rate_mbps: float, frame_bytes: int) -> Rates | None:
    """The rate at which packets left their sender; None with too few packets.

    ``rate_mbps``: the bottleneck's. ``frame_bytes``: the flow's full frame.
    Packets that leave together count as one train at the time of its first; between two trains
    the count of bytes is taken as even, so that a pacer's steps do not show.
    """
    arrival_ns, size_bytes = int64(trace.packets, "arrival_ns"), int64(trace.packets, "size_bytes")
    if len(arrival_ns) < COUNTED_PACKETS:
        return None
    packet_ns = frame_bytes * BITS_PER_BYTE * 1e3 / rate_mbps
    first = np.concatenate(([True], np.diff(arrival_ns) > TRAIN_SHARE * packet_ns))
    before_bytes = (np.cumsum(size_bytes) - size_bytes)[first]
    width_ns = max(COUNTED_ROUNDS * trace.rtt_ns, COUNTED_PACKETS * packet_ns)
    step_ns = trace.rtt_ns // POINTS_A_ROUND
    time_ns = np.arange(arrival_ns[0] + width_ns / 2, arrival_ns[-1] - width_ns / 2, step_ns)
    if not len(time_ns):
        return None
    ends = np.interp(
        np.concatenate((time_ns - width_ns / 2, time_ns + width_ns / 2)),
        arrival_ns[first],
        before_bytes,
    )
    rate_bps = (ends[len(time_ns) :] - ends[: len(time_ns)]) * BITS_PER_BYTE * NS_PER_S / width_ns
    return Rates(
        time_ns=time_ns.astype(np.int64) - trace.forward_ns,
        rate_bps=rate_bps,
        level_bps=level_bps(rate_bps),
        waited_ns=_waited_ns(trace, time_ns),
        unit_bps=rate_mbps * 1e6,
        edge_points=int(np.ceil(width_ns / 2 / step_ns)),
        source="packets",
    )


def level_bps(rate_bps: FloatArray) -> FloatArray:
    """The level of the cycles around each point; NaN counts for nothing, and is where nothing is known."""
    window = LEVEL_ROUNDS * POINTS_A_ROUND + 1
    rates = pl.Series(rate_bps, nan_to_null=True)
    return rates.rolling_quantile(
        LEVEL_QUANTILE, "nearest", window_size=window, min_samples=1, center=True
    ).to_numpy()


def _waited_ns(trace: FlowTrace, time_ns: FloatArray) -> Int64Array:
    """How long the last packet that arrived before each time, and left, was in the queue."""
    left = departed(trace.packets)
    if not left.height:
        return np.zeros(len(time_ns), np.int64)
    arrival_ns, departure_ns = int64(left, "arrival_ns"), int64(left, "departure_ns")
    last = np.searchsorted(arrival_ns, time_ns, side="right") - 1
    return np.where(last >= 0, departure_ns[last] - arrival_ns[last], 0)
