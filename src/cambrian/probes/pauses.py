"""Pauses: how a sender restarts after its application was idle, or limited it for a long time.

Two pages on one network (``studies/pauses.toml``). One has large objects, requested with seconds between
them. The other has many small objects, one after the other, and then at once a large one. The start of an
object is found by the time without full packets before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cambrian.metrics.columns import NS_PER_S, Int64Array
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import ProbedFlow

#: seconds without a full packet in which a connection was idle: longer than any timeout
IDLE_S = 2.0
#: round trips without a full packet between two objects that are requested one after the other
BETWEEN_TRIPS = 1.5
#: round trips before a pause in which the sender was busy
BUSY_TRIPS = 5.0
#: round trips after a pause in which a window grows visibly only if the controller counts the pause
GROWN_TRIPS = 4.0
#: part of a round trip within which packets are a burst
BURST_TRIPS = 0.1
#: upper limit of a pacer's rate, in windows for each round trip (RFC 9002, section 7.7, has 1.25)
PACED = 2.0
FEWEST_PAUSES = 2
#: small objects after which the first slow start is over, as far as small objects allow
FEWEST_OBJECTS = 10


@dataclass(frozen=True)
class _Restart:
    """A silence from ``idle_from_ns`` to ``back_ns``, in arrival times at the queue."""

    idle_from_ns: int
    back_ns: int


def idle_restart(flow: ProbedFlow) -> Figure | NoFigure:
    """Bytes in the first round trip after an idle time, as a share of the flight before it; mean."""
    trip_ns = flow.trace.rtt_ns
    return _share_of_window(flow, lambda one: _sent_bytes(flow, one.back_ns, trip_ns))


def idle_growth(flow: ProbedFlow) -> Figure | NoFigure:
    """Largest flight of the first round trips after an idle time, as a share of the flight before it; mean.

    Large if the controller lets its window grow during the idle time.
    """
    span_ns = GROWN_TRIPS * flow.trace.rtt_ns
    return _share_of_window(flow, lambda one: flow.most_in_flight(one.back_ns, one.back_ns + span_ns))


def _share_of_window(flow: ProbedFlow, after_bytes: Callable[[_Restart], float]) -> Figure | NoFigure:
    """``after_bytes`` of each idle time over the flight before it, mean."""
    found = _restarts(flow, IDLE_S * NS_PER_S)
    if len(found) < FEWEST_PAUSES:
        return _too_few(found)
    windows = [_window_bytes(flow, one) for one in found]
    shares = [after_bytes(one) / window for one, window in zip(found, windows, strict=True)]
    return Figure(float(np.mean(shares)), len(found), flow.packet_bytes / float(np.median(windows)))


def idle_burst_packets(flow: ProbedFlow) -> Figure | NoFigure:
    """Full packets in the first tenth of a round trip after an idle time, in excess of pacing; mean.

    Pacing explains :data:`PACED` times the flight before it, spread over a round trip.
    """
    found = _restarts(flow, IDLE_S * NS_PER_S)
    if len(found) < FEWEST_PAUSES:
        return _too_few(found)
    span_ns = round(BURST_TRIPS * flow.trace.rtt_ns)
    bursts = [
        max(0.0, _sent_bytes(flow, one.back_ns, span_ns) - PACED * BURST_TRIPS * _window_bytes(flow, one))
        for one in found
    ]
    return Figure(float(np.mean(bursts)) / flow.packet_bytes, len(found), 1.0)


def limited_growth(flow: ProbedFlow) -> Figure | NoFigure:
    """Packets in the first round trip of a large object, over the most of any small object before it.

    During the small objects the application limits the sender.
    """
    trip_ns = flow.trace.rtt_ns
    found = _restarts(flow, BETWEEN_TRIPS * trip_ns)
    if len(found) < FEWEST_OBJECTS:
        return NoFigure(f"{len(found)} objects in sequence; {FEWEST_OBJECTS} are needed")
    times = flow.data_arrivals_ns
    most = max(_count(times, one.back_ns, trip_ns) for one in found[:-1])
    return Figure(_count(times, found[-1].back_ns, trip_ns) / most, 1, 1 / most)


def _restarts(flow: ProbedFlow, silence_ns: float) -> list[_Restart]:
    """Every silence of at least ``silence_ns`` between two packets with data."""
    times = flow.data_arrivals_ns
    before = np.flatnonzero(np.diff(times) >= silence_ns)
    return [_Restart(int(times[at]), int(times[at + 1])) for at in before]


def _window_bytes(flow: ProbedFlow, one: _Restart) -> float:
    """The largest flight in the busy round trips before a pause; at least a full packet."""
    begin_ns = one.idle_from_ns - BUSY_TRIPS * flow.trace.rtt_ns
    return max(float(flow.packet_bytes), flow.most_in_flight(begin_ns, one.idle_from_ns + 1))


def _sent_bytes(flow: ProbedFlow, begin_ns: int, span_ns: int) -> int:
    first, last = np.searchsorted(flow.flight.arrival_ns, [begin_ns, begin_ns + span_ns])
    return int(flow.flight.size_bytes[first:last].sum())


def _count(times_ns: Int64Array, begin_ns: int, span_ns: int) -> int:
    first, last = np.searchsorted(times_ns, [begin_ns, begin_ns + span_ns])
    return int(last - first)


def _too_few(found: list[_Restart]) -> NoFigure:
    return NoFigure(f"{len(found)} idle times; {FEWEST_PAUSES} are needed")
