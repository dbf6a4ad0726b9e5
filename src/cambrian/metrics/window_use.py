"""Size, growth and use of a flow's congestion window over an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_S, BoolArray, FloatArray, Int64Array, int64, require_interval

#: a window is unused if less than this part of it is in flight, and more than these packets could be sent: a
#: pacer, an acknowledgement that comes late and a sum of headers explain less
USED, SLACK_PACKETS = 0.8, 3
#: a window that is unused in this part of the time does not decide what the flow sends. The stock stacks with
#: CUBIC or Reno have at most 12 % on any network of the study fingerprint; slow readers give 29 % and more
LIMITED_SHARE = 0.25
#: a window of more than this many times the most that was in flight until then grew without being used, which
#: RFC 9002 section 7.8 forbids: that is the controller's doing. Slow start may double a window that is in use
GROWN = 3.0
#: it has not grown if it is at most this many times the first one: at a flow's start only the handshake
#: is in flight, whose acknowledgements may let it grow
FIRST = 2


@dataclass(frozen=True)
class WindowUse:
    """The window over an interval.

    ``mean_bytes`` over time, ``most_bytes``, and ``growth_bytes_per_s``: the sum of all rises per second,
    so the growth between cuts, whatever the cuts take away. ``rises_per_s``: how often the window passed
    a further whole packet; a jump of several counts once. ``rate_mbps``: window over smoothed
    round trip, mean over the time with both values, None without a round trip.
    A pacer's rate is that times its gain.
    """

    mean_bytes: float
    most_bytes: int
    growth_bytes_per_s: float
    rises_per_s: float
    rate_mbps: float | None


def window_use(
    transport: pl.DataFrame, flow: int, t0_ns: int, t1_ns: int, packet_bytes: int
) -> WindowUse | None:
    """The window of one flow in [t0_ns, t1_ns); None if its trace has none before ``t1_ns``.

    Parameters:
        transport: columns ``flow``, ``time_ns``, ``cwnd_bytes``, ``srtt_us``
            (:data:`cambrian.trace.schema.TRANSPORT`).
        packet_bytes: payload of the flow's full packets. Kernel TCP's window rises by whole packets, QUIC
            stacks' by some bytes an acknowledgement, so rises are counted in packets for both.

    A window holds until the next row that names one; of rows of one instant the last counts. Where
    the trace begins after ``t0_ns``, the time before its first row is left out.

    Raises:
        ValueError: the interval is empty.
    """
    require_interval(t0_ns, t1_ns)
    named = (
        transport.filter((pl.col("flow") == flow) & (pl.col("time_ns") < t1_ns))
        .sort("time_ns", maintain_order=True)
        .with_columns(pl.col("srtt_us").forward_fill())
        .filter(pl.col("cwnd_bytes").is_not_null())
        .unique("time_ns", keep="last", maintain_order=True)
    )
    if not named.height:
        return None
    times = int64(named, "time_ns")
    first = max(int(np.searchsorted(times, t0_ns, side="right")) - 1, 0)
    windows = int64(named, "cwnd_bytes")[first:]
    srtts_us = named.get_column("srtt_us")[first:].cast(pl.Float64).fill_null(np.nan).to_numpy()
    held_ns = np.diff(np.maximum(times[first:], t0_ns), append=t1_ns)
    span_ns = int(held_ns.sum())
    return WindowUse(
        # bytes times nanoseconds exceed 64 bits: 1 GB for 10 s
        mean_bytes=float((windows.astype(np.float64) * held_ns).sum() / span_ns),
        most_bytes=int(windows.max()),
        growth_bytes_per_s=float(np.maximum(np.diff(windows), 0).sum()) * NS_PER_S / span_ns,
        rises_per_s=float((np.diff(windows // packet_bytes) > 0).sum() * NS_PER_S / span_ns),
        rate_mbps=_rate_mbps(windows, srtts_us, held_ns),
    )


def unused_share(
    transport: pl.DataFrame, flow: int, t0_ns: int, t1_ns: int, packet_bytes: int
) -> float | None:
    """Part of the time, 0 to 1, in which the window of one flow is unused (:data:`USED`).

    Then its application, its receiver, its own buffer or a limit of its rate decides what it sends, and not
    its congestion controller. 0 if the window grew without being used (:data:`GROWN`, :data:`FIRST`). None
    without rows in [t0_ns, t1_ns) that name window and bytes in flight.

    Parameters:
        transport: columns ``flow``, ``time_ns``, ``cwnd_bytes``, ``in_flight_bytes``.
            A row holds until the next.
        packet_bytes: payload of the flow's full packets.
    """
    named = transport.filter(
        (pl.col("flow") == flow)
        & (pl.col("time_ns") < t1_ns)
        & (pl.col("cwnd_bytes") > 0)
        & pl.col("in_flight_bytes").is_not_null()
    ).sort("time_ns", maintain_order=True)
    inside = named["time_ns"] >= t0_ns
    if not inside.any():
        return None
    most_bytes = GROWN * named["in_flight_bytes"].cum_max() + SLACK_PACKETS * packet_bytes
    has_grown = (named["cwnd_bytes"] > most_bytes) & (named["cwnd_bytes"] > FIRST * named["cwnd_bytes"][0])
    if has_grown.filter(inside).any():
        return 0.0
    measured = named.filter(inside)
    held_ns = np.diff(int64(measured, "time_ns"), append=t1_ns)
    return float((held_ns * _is_unused(measured, packet_bytes)).sum() / held_ns.sum())


def is_unused_at(transport: pl.DataFrame, time_ns: int, packet_bytes: int) -> bool:
    """Is the window of a flow's rows unused at a time? False if no row says so.

    Parameters:
        transport: rows of one flow, columns as for :func:`unused_share`.
    """
    named = transport.filter(
        (pl.col("time_ns") <= time_ns) & (pl.col("cwnd_bytes") > 0) & pl.col("in_flight_bytes").is_not_null()
    )
    return bool(_is_unused(named.tail(1), packet_bytes).any())


def _is_unused(rows: pl.DataFrame, packet_bytes: int) -> BoolArray:
    window, flight = int64(rows, "cwnd_bytes"), int64(rows, "in_flight_bytes")
    unused: BoolArray = flight + SLACK_PACKETS * packet_bytes < USED * window
    return unused


def _rate_mbps(windows: Int64Array, srtts_us: FloatArray, held_ns: Int64Array) -> float | None:
    """Mean over time of window / round trip; bytes and microseconds make 8 Mbps."""
    known = srtts_us > 0
    held = held_ns[known]
    if not held.sum():
        return None
    return float((8 * windows[known] / srtts_us[known] * held).sum() / held.sum())
