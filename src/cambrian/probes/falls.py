"""How a flight changes after each loss or mark by the network.

A sender learns of a loss one round trip after the time at which the lost packet would have reached the queue.
Its flight falls at once or over the next round trip (RFC 6937). So the flight is measured from one to three
round trips after the loss, in half round trips; the lowest of them is what the sender keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cambrian.probes.probed_flow import ProbedFlow

#: round trips after a loss: when the sender knows of it, and when its flight has settled
LEARNT, SETTLED = 1.0, 3.0
#: round trips after a loss at which a flight that was cut once is still growing back
LATER = (5.0, 6.0)
#: round trips before a loss in which the queue itself may drop nothing
CLEAR = 3.0
HALF_TRIPS = 0.5
#: largest relative change of a steady flight from one round trip to the next, before a loss
STEADY = 0.15
#: a flight that keeps more than this did not respond; the noise of one packet is 1 to 2 %
ANSWERED = 0.93


@dataclass(frozen=True)
class Loss:
    """A loss by the network: its packets would have reached the queue from ``begin_ns`` to ``end_ns``."""

    begin_ns: int
    end_ns: int


@dataclass(frozen=True)
class Fall:
    """One loss: the flight before it in bytes, and the shares of it that the sender kept and had later.

    ``kept`` and ``later`` are NaN if the flow sent nothing at that time, or the trial ended before.
    ``trip_ns`` is the round trip before the loss, with queueing.
    """

    loss: Loss
    before_bytes: float
    kept: float
    later: float
    trip_ns: int


def after(
    flow: ProbedFlow, losses: Sequence[Loss], *, learnt: float = LEARNT, own_signals: int = 0
) -> list[Fall]:
    """The change of the flight after each undisturbed loss.

    ``learnt``: round trips after a loss's end from which the flight is measured. ``own_signals``: number of
    drops and marks by the queue that belong to the loss. Omits losses near another drop or mark, losses in a
    flight that was not steady before, and losses too close to the trial's end.
    """
    found = []
    for loss in losses:
        position = int(np.searchsorted(flow.flight.arrival_ns, loss.begin_ns)) - 1
        if position < 0:
            continue
        trip_ns = int(flow.flight.round_trip_ns[position])
        if _signals(flow, loss, trip_ns) > own_signals or loss.end_ns + SETTLED * trip_ns > flow.trace.end_ns:
            continue
        before = flow.most_in_flight(loss.begin_ns - trip_ns, loss.begin_ns)
        parts = np.arange(learnt, SETTLED, HALF_TRIPS)
        flights = [_flight(flow, loss, trip_ns, part, part + HALF_TRIPS) for part in parts]
        earlier = flow.most_in_flight(loss.begin_ns - 2 * trip_ns, loss.begin_ns - trip_ns)
        # false for NaN, when nothing was sent
        if not abs(earlier / before - 1) <= STEADY:
            continue
        kept = float(np.nanmin(flights)) / before if np.isfinite(flights).any() else np.nan
        ends = loss.end_ns + LATER[1] * trip_ns <= flow.trace.end_ns
        later = _flight(flow, loss, trip_ns, *LATER) / before if ends else np.nan
        found.append(Fall(loss, before, kept, later, trip_ns))
    return found


def _flight(flow: ProbedFlow, loss: Loss, trip_ns: int, begin: float, end: float) -> float:
    return flow.most_in_flight(loss.end_ns + begin * trip_ns, loss.end_ns + end * trip_ns)


def delay_trips(flow: ProbedFlow, fall: Fall) -> float:
    """Round trips from a loss to the first half round trip in which the flight is lower.

    NaN if it does not fall within :data:`LATER`, or the queue drops or marks a packet in that time.
    """
    loss, trip_ns = fall.loss, fall.trip_ns
    if _signals(flow, loss, trip_ns, LATER[1]):
        return float("nan")
    for part in np.arange(LEARNT, LATER[1], HALF_TRIPS):
        # in a half round trip without packets the flight has fallen, too
        most = _flight(flow, loss, trip_ns, part, part + HALF_TRIPS)
        if loss.end_ns + part * trip_ns < flow.trace.end_ns and not most >= ANSWERED * fall.before_bytes:
            return float(part)
    return float("nan")


def packet_share(flow: ProbedFlow, found: Sequence[Fall]) -> float:
    """One full packet as a share of the flight before the losses: the resolution of a flight."""
    return float(flow.packet_bytes / np.median([one.before_bytes for one in found]))


def _signals(flow: ProbedFlow, loss: Loss, trip_ns: int, until_trips: float = SETTLED) -> int:
    """Number of drops and marks by the queue that are close enough to be confused with the loss."""
    signals = np.sort(flow.flight.signal_ns)
    edges_ns = [loss.begin_ns - CLEAR * trip_ns, loss.end_ns + until_trips * trip_ns]
    first, last = np.searchsorted(signals, edges_ns)
    return int(last - first)
