"""Packets beyond the window: does a sender send more than its own window allows?

By its log: both sides of the comparison are the sender's, bytes in flight and window of one row. For a round
trip after a cut more is in flight than the new window, and a timeout may send two packets more. A row about a
loss stands for a cut, and a row without another one in the round trip before may come just after one.

By packets: the flight at the bottleneck against the log's window. A log may tell its window late, or count
smaller packets than those that are sent. So only a flight far above each window of the time around counts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_S, int64
from cambrian.metrics.parameters.estimate import Estimate, Missing, of_share
from cambrian.metrics.parameters.flight import Flight, flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import frame_bytes, is_timeout, of_stack, segment_bytes
from cambrian.metrics.recovery.episodes import REACTIONS

KEY = "beyond_window"
#: least excess, in segments, and as a share of the window: one of the two may leave out headers
BEYOND_SEGMENTS, BEYOND_SHARE = 2.0, 0.15
#: so much more in flight than the window has another unit
OTHER_UNIT = 100
#: round trips (with a full queue) after a fall of the window in which it says nothing
AFTER_FALL_TRIPS = 2
#: by packets: a flight so many times the window is beyond it. 1,452 bytes of payload are 1.21 times the 1,200
#: that a log may count for each packet
BEYOND_RATIO = 1.4
#: a log is late by no more than this: so many round trips, or this time if it is longer
LATE_TRIPS, LATE_NS = 8, 2 * NS_PER_S
#: between two rows that are so many round trips apart the window may have been another one
RARE_TRIPS = 2
#: by packets, a flight that is usually so many times the window shows that the window has another unit
OTHER_UNIT_BY_PACKETS = 20


def estimate(trace: FlowTrace) -> Iterator[Estimate | Missing]:
    """Share of round trips with more in flight than the window, by log and by packets; none for BBR."""
    if trace.family == "bbr":
        return
    found = flight(trace.packets, trace.rtt_ns) if trace.has_window else None
    yield _by_log(trace, found)
    if found is not None and len(found.arrival_ns):
        yield _by_packets(trace, found)


def _by_log(trace: FlowTrace, found: Flight | None) -> Estimate | Missing:
    """Round trips in which the log mostly has more in flight than the window."""
    if trace.protocol == "tcp" or not trace.steady:
        counted = "bytes in flight of TCP include those that are acknowledged selectively"
        return Missing(KEY, counted if trace.steady else trace.changing)
    known = pl.col("cwnd_bytes").is_not_null() & pl.col("in_flight_bytes").is_not_null()
    rows = trace.transport.filter(known)
    trip_ns = int(found.round_trip_ns.max(initial=0)) if found is not None and rows.height else 0
    if not trip_ns:
        return Missing(KEY, "the log has no bytes in flight")
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
        return Missing(KEY, why)
    in_flight = int64(rows, "in_flight_bytes")
    if (ratio := float(np.median(in_flight[settled] / window[settled].clip(min=1)))) > OTHER_UNIT:
        return Missing(
            KEY, f"the log has {ratio:.3g} times the window in flight: the two have different units"
        )
    excess = in_flight - window
    beyond = excess > np.maximum(BEYOND_SEGMENTS * segment_bytes(trace), BEYOND_SHARE * window)
    trips = pl.DataFrame({"trip": time_ns[settled] // trip_ns, "beyond": beyond[settled]})
    shares = trips.group_by("trip").agg(pl.col("beyond").mean())["beyond"]
    return of_share(KEY, int((shares > 0.5).sum()), len(shares), "window")


def _by_packets(trace: FlowTrace, found: Flight) -> Estimate | Missing:
    """Round trips in which the usual flight is far above each window that the log has around that time."""
    if trace.hidden:
        return Missing(KEY, trace.hidden, "packets")
    own = of_stack(trace)
    trip_ns = int(found.round_trip_ns.max())
    sent_ns = found.arrival_ns - trace.forward_ns
    segments = found.flight_bytes / max(1, frame_bytes(trace))
    flown = pl.DataFrame({"trip": sent_ns // trip_ns, "flown": segments})
    usual = flown.group_by("trip", maintain_order=True).median()
    begin_ns = int64(usual, "trip") * trip_ns
    late_ns = max(LATE_TRIPS * trip_ns, LATE_NS)
    # the log's rows from the last one before to the first one after this time
    first = np.searchsorted(own.time_ns, begin_ns - late_ns, side="right") - 1
    last = np.searchsorted(own.time_ns, begin_ns + trip_ns + late_ns)
    inside = (first >= 0) & (last < len(own.time_ns))
    rows = np.column_stack((first[inside], last[inside])).ravel()
    # a row at a loss alone has the window after the cut
    gaps_ns = np.diff(own.time_ns, append=own.time_ns[-1:])
    inside[inside] = np.maximum.reduceat(gaps_ns, rows)[::2] <= RARE_TRIPS * trip_ns
    if not inside.any():
        return Missing(KEY, "the log's rows are too rare to show the window at each time", "packets")
    rows = np.column_stack((first[inside], last[inside] + 1)).ravel()
    most = np.maximum.reduceat(np.append(own.segments, 0.0), rows)[::2]
    flown_then = usual["flown"].to_numpy()[inside]
    ratio = float(np.median(flown_then / most.clip(min=1e-9)))
    if ratio > OTHER_UNIT_BY_PACKETS:
        why = f"{ratio:.3g} times the logged window is in flight: it has another unit than bytes"
        return Missing(KEY, why, "packets")
    beyond = flown_then - most > np.maximum(BEYOND_SEGMENTS, (BEYOND_RATIO - 1) * most)
    return of_share(KEY, int(beyond.sum()), len(beyond), "packets")
