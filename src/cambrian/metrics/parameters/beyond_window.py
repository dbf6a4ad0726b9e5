"""Packets beyond the window: does a sender send more than its own window allows?

Both sides of the comparison are the sender's: bytes in flight and window of one row of its log. For a round
trip after a cut more is in flight than the new window, and a timeout may send two packets more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from cambrian.metrics.columns import int64
from cambrian.metrics.parameters.estimate import Estimate, Missing, of_share
from cambrian.metrics.parameters.flight import flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import is_timeout, segment_bytes

KEY = "beyond_window"
#: least excess, in segments, and as a share of the window: one of the two may leave out headers
BEYOND_SEGMENTS, BEYOND_SHARE = 2.0, 0.15
#: round trips (with a full queue) after a fall of the window in which it says nothing
AFTER_FALL_TRIPS = 2


def estimate(trace: FlowTrace) -> Iterator[Estimate | Missing]:
    """The share of round trips in which the log mostly has more in flight than the window; none for BBR."""
    if trace.family == "bbr":
        return
    if trace.protocol == "tcp" or not trace.steady:
        counted = "bytes in flight of TCP include those that are acknowledged selectively"
        yield Missing(KEY, counted if trace.steady else trace.changing)
        return
    known = pl.col("cwnd_bytes").is_not_null() & pl.col("in_flight_bytes").is_not_null()
    rows = trace.transport.filter(known)
    trip_ns = int(flight(trace.packets, trace.rtt_ns).round_trip_ns.max(initial=0)) if rows.height else 0
    if not trip_ns:
        yield Missing(KEY, "the log has no bytes in flight")
        return
    time_ns, window = int64(rows, "time_ns"), int64(rows, "cwnd_bytes")
    falls_ns = np.concatenate(([np.iinfo(np.int64).min // 2], time_ns[1:][np.diff(window) < 0]))
    since_ns = time_ns - falls_ns[np.searchsorted(falls_ns, time_ns, side="right") - 1]
    settled = (since_ns > AFTER_FALL_TRIPS * trip_ns) & ~is_timeout(rows).to_numpy()
    if not settled.any():
        yield Missing(KEY, "no row of the log comes two round trips after a fall of the window")
        return
    excess = int64(rows, "in_flight_bytes") - window
    beyond = excess > np.maximum(BEYOND_SEGMENTS * segment_bytes(trace), BEYOND_SHARE * window)
    trips = pl.DataFrame({"trip": time_ns[settled] // trip_ns, "beyond": beyond[settled]})
    shares = trips.group_by("trip").agg(pl.col("beyond").mean())["beyond"]
    yield of_share(KEY, int((shares > 0.5).sum()), len(shares), "window")
