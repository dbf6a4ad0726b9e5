"""Packets beyond the window: does a sender send more than its own window allows?

Both sides of the comparison are the sender's: bytes in flight and window of one row of its log. For a round
trip after a cut more is in flight than the new window, and a timeout may send two packets more. A row about a
loss stands for a cut, and a row without another one in the round trip before may come just after one.
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
from cambrian.metrics.recovery.episodes import REACTIONS

KEY = "beyond_window"
#: least excess, in segments, and as a share of the window: one of the two may leave out headers
BEYOND_SEGMENTS, BEYOND_SHARE = 2.0, 0.15
#: so much more in flight than the window has another unit
OTHER_UNIT = 100
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
    fell = np.diff(window, prepend=window[:1]) < 0
    # a log with rows at losses only, or with few rows, does not show the window before the cut
    fell |= rows["event"].is_in(REACTIONS).fill_null(False).to_numpy()
    falls_ns = np.concatenate(([np.iinfo(np.int64).min // 2], time_ns[fell]))
    since_ns = time_ns - falls_ns[np.searchsorted(falls_ns, time_ns, side="right") - 1]
    settled = (since_ns > AFTER_FALL_TRIPS * trip_ns) & ~is_timeout(rows).to_numpy()
    settled &= np.diff(time_ns, prepend=np.iinfo(np.int64).min // 2) <= trip_ns
    if not settled.any():
        why = "no row of the log comes two round trips after a fall of the window, and soon after another row"
        yield Missing(KEY, why)
        return
    in_flight = int64(rows, "in_flight_bytes")
    if (ratio := float(np.median(in_flight[settled] / window[settled].clip(min=1)))) > OTHER_UNIT:
        yield Missing(
            KEY, f"the log has {ratio:.3g} times the window in flight: the two have different units"
        )
        return
    excess = in_flight - window
    beyond = excess > np.maximum(BEYOND_SEGMENTS * segment_bytes(trace), BEYOND_SHARE * window)
    trips = pl.DataFrame({"trip": time_ns[settled] // trip_ns, "beyond": beyond[settled]})
    shares = trips.group_by("trip").agg(pl.col("beyond").mean())["beyond"]
    yield of_share(KEY, int((shares > 0.5).sum()), len(shares), "window")
