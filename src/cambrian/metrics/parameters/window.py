"""A flow's congestion window over time: the exported window, or the flight as its estimate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy

from cambrian.metrics.columns import SMALLEST_DATA_BYTES, BoolArray, FloatArray, Int64Array, int64
from cambrian.metrics.parameters.estimate import Source
from cambrian.metrics.parameters.flight import Flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.states.vocabulary import RETRANSMISSION_TIMEOUT, words_of

#: headers in a frame that a window does not count: Ethernet 14, IPv4 20, and UDP 8 or TCP 32
OVERHEAD_BYTES = {"quic": 42, "tcp": 66}
#: rows of a log that tell of a timeout
TIMEOUTS = ("rto", "pto")
#: full frames, and less, carry this share of a flow's bytes; the rest are probes of the path's MTU
FULL_SHARE = 0.95
#: equal parts of a flow's packets; in so few of them smaller frames move no median of a flow's epochs
FRAME_PARTS, FEW_PARTS = 10, 3
#: packets over which the flight's envelope is taken: what delayed acknowledgements hide and more,
#: or as a share of the usual flight: so soon does pacing fill what it left open
ENVELOPE_PACKETS = 12
ENVELOPE_SHARE = 0.1
#: segments by which a window may fall besides what the time between two rows of a log explains, however small
#: it is: an acknowledgement takes the packets off that it tells of, mostly two, of almost the usual size
STEP_SEGMENTS = 2.5


@dataclass(frozen=True)
class Window:
    """The window in segments (the flow's full packets), in order of time at the sender.

    ``time_ns``: the sender's time. ``segments``: the window from then on. ``ssthresh``: the
    threshold in segments, NaN where the stack does not say. ``timeout``: a retransmission
    timeout's row. ``unit_bytes``: a segment, in the window's bytes or the flight's frames.
    ``length``: packets over which the flight's envelope was taken; 0 for an exported window.
    """

    time_ns: Int64Array
    segments: FloatArray
    ssthresh: FloatArray
    timeout: np.ndarray[tuple[int], np.dtype[np.bool_]]
    source: Source
    unit_bytes: int
    length: int


def falls_at_once(window: Window, round_trip_ns: int) -> BoolArray:
    """Steps down by more than acknowledgements explain since the rows of an earlier time, shape (n − 1,).

    In recovery a window may follow the flight down (RFC 6937), by no more than is acknowledged: all of it in
    ``round_trip_ns``, the shortest round trip. A polled log shows such a fall in a few large steps.
    """
    time_ns = window.time_ns
    # one acknowledgement may have several rows
    earlier = (np.searchsorted(time_ns, time_ns[1:]) - 1).clip(min=0)
    acknowledged = window.segments[:-1] * (time_ns[1:] - time_ns[earlier]) / max(1, round_trip_ns)
    return np.asarray(-np.diff(window.segments) > acknowledged + STEP_SEGMENTS, dtype=bool)


def frame_bytes(trace: FlowTrace) -> int:
    """The flow's full frame; 0 without packets."""
    return full_frame(int64(trace.packets, "size_bytes"))


def full_frame(sizes_bytes: Int64Array) -> int:
    """The unit of windows and flights in packets: at most 5 % of the bytes are in larger ones; 0 without any.

    The median frame is a small one where a sender has many of them, and the largest one may be a probe of the
    path's MTU.
    """
    return frame_of_share(sizes_bytes, FULL_SHARE)


def frame_of_share(sizes_bytes: Int64Array, share: float) -> int:
    """Frames of at most this size carry so much of the bytes; 0 without frames."""
    if not len(sizes_bytes):
        return 0
    sizes = np.sort(sizes_bytes)
    carried = np.cumsum(sizes)
    return int(sizes[np.searchsorted(carried, share * carried[-1])])


def frame_growth(trace: FlowTrace) -> float:
    """The full frame over that of the parts of the flow that had smaller ones for long, at least 1.

    A sender that finds a larger MTU (RFC 8899) grows its window by smaller packets before that.
    """
    sizes_bytes = int64(trace.packets, "size_bytes")
    parts = np.array_split(sizes_bytes[sizes_bytes >= SMALLEST_DATA_BYTES], FRAME_PARTS)
    frames = sorted(frame for part in parts if (frame := full_frame(part)))
    if len(frames) <= FEW_PARTS:
        return 1.0
    return max(1.0, full_frame(sizes_bytes) / frames[FEW_PARTS])


def segment_bytes(trace: FlowTrace) -> int:
    """A segment as windows count it: the full frame's UDP or TCP payload."""
    return frame_bytes(trace) - OVERHEAD_BYTES[trace.protocol]


def is_timeout(rows: pl.DataFrame) -> pl.Series:
    """Does a row tell of a timeout? Not one whose event the stack leaves empty."""
    return rows["event"].is_in(TIMEOUTS).fill_null(False)


def of_stack(trace: FlowTrace) -> Window:
    """The window that the stack exports; without values where it exports none."""
    rows = trace.transport.filter(pl.col("cwnd_bytes").is_not_null())
    size = max(1, segment_bytes(trace))
    words = words_of(rows["state"], RETRANSMISSION_TIMEOUT)
    timeout = is_timeout(rows) | rows["state"].is_in(words).fill_null(False)
    return Window(
        time_ns=int64(rows, "time_ns"),
        segments=int64(rows, "cwnd_bytes") / size,
        # 0 stands for none: no window comes to it
        ssthresh=rows["ssthresh_bytes"].cast(pl.Float64).replace(0.0, None).fill_null(np.nan).to_numpy()
        / size,
        timeout=timeout.to_numpy(),
        source="window",
        unit_bytes=size,
        length=0,
    )


def of_flight(trace: FlowTrace, found: Flight) -> Window:
    """The flight's upper envelope, in full frames."""
    size = max(1, frame_bytes(trace))
    envelope, count, length = found.flight_bytes, len(found.flight_bytes), ENVELOPE_PACKETS
    if count:
        length = max(length, round(ENVELOPE_SHARE * float(np.median(envelope)) / size))
        # the maximum of a packet and those before it: a fall shows when it is over
        envelope = scipy.ndimage.maximum_filter1d(envelope, length, origin=(length - 1) // 2)
    return Window(
        time_ns=found.arrival_ns - trace.forward_ns,
        segments=envelope / size,
        ssthresh=np.full(count, np.nan),
        timeout=np.zeros(count, bool),
        source="packets",
        unit_bytes=size,
        length=length,
    )
