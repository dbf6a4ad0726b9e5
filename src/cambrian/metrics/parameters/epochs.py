"""Epochs: stretches of a window between two congestion events, to which growth laws are fitted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cambrian.metrics.columns import BITS_PER_BYTE, BoolArray, FloatArray, Int64Array, int64
from cambrian.metrics.parameters.estimate import Source
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.reductions import Reductions
from cambrian.metrics.parameters.window import Window, frame_bytes

#: number of moments of an epoch
MOMENTS = 60
#: shortest epoch, in round trips, that shows growth
FEWEST_TRIPS = 5.0
#: most epochs that are used; more add no information
MOST = 16
#: a window that is no larger than this has not grown yet, in segments
GROWN: dict[Source, float] = {"window": 1e-9, "packets": 1.0}
#: an acknowledgement that lets a window rise by this share of the cut, and by so many segments, is no growth:
#: it takes the cut back, as a late report of duplicates does
JUMP_OF_CUT, JUMP_SEGMENTS = 0.25, 5.0
#: a recovery period that takes a second round trip (RFC 6675) is over by then
RECOVERED_TRIPS = 2.5


@dataclass(frozen=True)
class Epochs:
    """Congestion avoidance between reductions, one row each, at :data:`MOMENTS` moments.

    ``passed_s``: time since the window began to grow. ``segments``: the window.
    ``acked``: segments acknowledged since the moment before (0 at the first).
    ``before``: the window before the reduction that the epoch follows. ``after``: its first window.
    ``number``: that reduction's.
    """

    passed_s: FloatArray
    segments: FloatArray
    acked: FloatArray
    before: FloatArray
    after: FloatArray
    number: Int64Array

    def __len__(self) -> int:
        return len(self.number)

    def only(self, which: BoolArray) -> Epochs:
        """The epochs that ``which`` selects."""
        return Epochs(
            self.passed_s[which],
            self.segments[which],
            self.acked[which],
            self.before[which],
            self.after[which],
            self.number[which],
        )


def epochs(trace: FlowTrace, window: Window, found: Reductions) -> Epochs:
    """The epochs of a window, between reductions of which the first lasts.

    The first reduction ends slow start; what the controller remembers of it is its own affair, so
    the epoch after it is left out. Whatever was acknowledged is what left the queue a
    back delay ago.
    """
    starts_ns, ends_ns, kept = stretches(trace, window, found)
    moments = np.linspace(0, 1, MOMENTS)
    times_ns = starts_ns[:, None] + (moments * (ends_ns - starts_ns)[:, None]).astype(np.int64)
    at = np.searchsorted(window.time_ns, times_ns, side="right") - 1
    segments = window.segments[np.maximum(at, 0)] if len(window.segments) else times_ns.astype(float)
    acked = np.diff(acknowledged(trace, times_ns), axis=1, prepend=0)
    acked[:, 0] = 0
    return Epochs(
        passed_s=(times_ns - times_ns[:, :1]) / 1e9,
        segments=segments,
        acked=acked,
        before=found.before[kept],
        after=found.after[kept],
        number=kept,
    )


def stretches(trace: FlowTrace, window: Window, found: Reductions) -> Int64Array:
    """When each epoch begins to grow, when it ends, and its reduction's number; shape (3, n)."""
    numbers = range(1, len(found) - 1)
    rows = [row for number in numbers if (row := _stretch(trace, window, found, number)) is not None][:MOST]
    return np.array(rows, dtype=np.int64).reshape(-1, 3).T


def _stretch(trace: FlowTrace, window: Window, found: Reductions, number: int) -> tuple[int, int, int] | None:
    """When an epoch begins to grow and ends; None where it is too short or not undisturbed."""
    if not found.lasting[number]:
        return None
    start_ns, end_ns = int(found.settled_ns[number]), int(found.start_ns[number + 1])
    trip_ns = max(_trip_ns(trace, float(found.before[number])), start_ns - int(found.start_ns[number]))
    # of several rows at one time, such as a loss's and an acknowledgement's, the last is the settled window
    low = max(0, int(np.searchsorted(window.time_ns, start_ns, side="right")) - 1)
    high = int(np.searchsorted(window.time_ns, end_ns))
    # while recovery lasts the window rests: what is acknowledged in it lets no window grow
    rests = window.segments[low:high] <= found.after[number] + GROWN[window.source]
    if window.source == "packets":
        rests &= window.time_ns[low:high] < start_ns + RECOVERED_TRIPS * trip_ns
        last = np.flatnonzero(rests)[-1:]
    else:
        last = np.flatnonzero(~rests)[:1] - 1
    if len(last):
        grown_ns = max(start_ns, int(window.time_ns[low + max(0, int(last[0]))]))
        # a window that rests for longer waits for a curve that begins below it (RFC 8312), whose clock runs
        start_ns = grown_ns if grown_ns <= start_ns + RECOVERED_TRIPS * trip_ns else start_ns + trip_ns
    if window.source == "window":
        cut = found.before[number] - found.after[number]
        jumps = np.flatnonzero(np.diff(window.segments[low:high]) >= max(JUMP_SEGMENTS, JUMP_OF_CUT * cut))
        if len(jumps):
            high = low + int(jumps[0]) + 1
            end_ns = min(end_ns, int(window.time_ns[high]))
    if end_ns - start_ns < FEWEST_TRIPS * trace.rtt_ns or high - low < MOMENTS // 2:
        return None
    return start_ns, end_ns - 1, number


def _trip_ns(trace: FlowTrace, before: float) -> int:
    """A round trip with that window in flight: no shorter than the bottleneck takes to carry it."""
    if trace.rate_mbps is None:
        return trace.rtt_ns
    return max(trace.rtt_ns, round(before * frame_bytes(trace) * BITS_PER_BYTE * 1000 / trace.rate_mbps))


def acknowledged(trace: FlowTrace, times_ns: Int64Array) -> FloatArray:
    """Segments that were acknowledged by then, at the earliest."""
    packets = trace.packets.filter(trace.packets["outcome"] == "departed").sort("departure_ns")
    known_ns = int64(packets, "departure_ns") + trace.back_ns
    carried = np.concatenate(([0], np.cumsum(int64(packets, "size_bytes"))))
    return carried[np.searchsorted(known_ns, times_ns, side="right")] / max(1, frame_bytes(trace))
