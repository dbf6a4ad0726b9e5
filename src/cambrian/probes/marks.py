"""ECN: how a flow reacts when the queue marks its packets instead of dropping them."""

from __future__ import annotations

import numpy as np
import polars as pl

from cambrian.metrics.columns import SMALLEST_DATA_BYTES
from cambrian.metrics.parameters.flight import LATE, NEVER_NS
from cambrian.probes import falls, steady
from cambrian.probes.falls import Fall, Loss
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import ProbedFlow

FEWEST = 3
#: in a smaller flight a packet or two are as much as an answer
FEWEST_PACKETS = 20
#: round trips before the sender knows of a mark in which the flight before it is seen
_BEFORE = 0.5
#: round trips after that, from and to, in which the flight has fallen if the mark is answered. At the first a
#: fall that takes a round trip (RFC 6937) to 0.85 (RFC 8511) is by a tenth; at the last, no sender knows of
#: what the queue marked an interval of CoDel's later
_FALLEN = (0.7, 0.9)


def _unmarked(flow: ProbedFlow) -> NoFigure | None:
    later = flow.trace.packets.filter(pl.col("arrival_ns") >= flow.settled_ns)
    if later["ce"].fill_null(False).any():
        return None
    if (later["outcome"] == "dropped").any():
        return NoFigure("its packets do not support ECN: the queue dropped them instead of marking them")
    return NoFigure("the queue marked none of its packets")


def delay_ms(flow: ProbedFlow) -> Figure | NoFigure:
    """Mean queueing delay, if the queue marks; in ms."""
    return _unmarked(flow) or steady.delay_ms(flow)


def marked_percent(flow: ProbedFlow) -> Figure | NoFigure:
    """Percentage of the packets that were marked."""
    if (why := _unmarked(flow)) is not None:
        return why
    later = flow.trace.packets.filter(pl.col("arrival_ns") >= flow.settled_ns)
    return Figure(100 * float(later["ce"].fill_null(False).sum()) / later.height, later.height)


def kept(flow: ProbedFlow) -> Figure | NoFigure:
    """Share of the flight that the sender keeps after the marks of one round trip, mean over such groups."""
    if (why := _unmarked(flow)) is not None:
        return why
    found = [one for one in _alone(flow) if np.isfinite(one.kept)]
    if len(found) < FEWEST:
        return NoFigure(f"{len(found)} undisturbed round trips with marks; {FEWEST} are needed")
    return Figure(float(np.mean([one.kept for one in found])), len(found), falls.packet_share(flow, found))


def answered_percent(flow: ProbedFlow) -> Figure | NoFigure:
    """Percentage of the episodes of marks that the flight falls after, within two round trips of the mark."""
    if (why := _unmarked(flow)) is not None:
        return why
    found = [left for one in _learnt_ns(flow) if np.isfinite(left := _left(flow, one))]
    if len(found) < FEWEST:
        seen = f"{len(found)} episodes of marks in a flight of {FEWEST_PACKETS} packets or more"
        return NoFigure(f"{seen}; {FEWEST} are needed")
    return Figure(100 * float(np.mean([left < falls.ANSWERED for left in found])), len(found))


def _learnt_ns(flow: ProbedFlow) -> list[int]:
    """When the sender can know of the first mark of each episode, on the queue's clock.

    Packets that it sent before it knew belong to the same episode (RFC 9002, section 7.3.2); the next one
    begins with the first mark of a later packet, answered or not.
    """
    flight, found = flow.flight, list[int]()
    later_ns = flow.settled_ns
    for sent_ns, learnt_ns in zip(flight.signal_ns.tolist(), flight.learnt_ns.tolist(), strict=True):
        if sent_ns >= later_ns and learnt_ns < NEVER_NS:
            found.append(learnt_ns)
            later_ns = learnt_ns + LATE * flight.trip_ns(sent_ns)
    return found


def _left(flow: ProbedFlow, learnt_ns: int) -> float:
    """Share of the flight that is left most of a round trip after the sender knows of a mark.

    NaN if the flight was small or is not seen. A sender that waits for its flight to fall sends nothing, so
    the flight counts at the beginning of that time, too.
    """
    trip_ns = flow.flight.trip_ns(learnt_ns)
    begin_ns, end_ns = (learnt_ns + part * trip_ns for part in _FALLEN)
    before = flow.most_in_flight(learnt_ns - _BEFORE * trip_ns, learnt_ns)
    if not before >= FEWEST_PACKETS * flow.packet_bytes or end_ns > flow.trace.end_ns:
        return float("nan")
    return float(np.fmax(flow.most_in_flight(begin_ns, end_ns), _in_flight(flow, begin_ns))) / before


def _in_flight(flow: ProbedFlow, at_ns: float) -> float:
    """Bytes in flight at any time: those of the packet sent last, less what is acknowledged since."""
    last = int(np.searchsorted(flow.flight.arrival_ns, at_ns)) - 1
    sent_ns = int(flow.flight.arrival_ns[last])
    known_ns = pl.col("departure_ns") + flow.trace.rtt_ns
    is_data = pl.col("size_bytes") >= SMALLEST_DATA_BYTES
    known = flow.trace.packets.filter(is_data & (known_ns > sent_ns) & (known_ns <= at_ns))
    return float(flow.flight.flight_bytes[last]) - float(known["size_bytes"].cast(pl.Int64).sum())


def _alone(flow: ProbedFlow) -> list[Fall]:
    """Groups of marks within the first one's round trip, no other signal near: one congestion event each."""
    times = np.sort(flow.flight.signal_ns[flow.flight.signal_ns >= flow.settled_ns])
    trip_ns = float(np.median(flow.flight.round_trip_ns))
    groups = np.split(times, np.flatnonzero(np.diff(times) > falls.CLEAR * trip_ns) + 1)
    found = []
    for group in groups:
        # with the queue that marks; the usual round trip may be shorter than CoDel's interval
        if len(group) and group[-1] - group[0] <= flow.flight.trip_ns(int(group[0])):
            found += falls.after(flow, [Loss(int(group[0]), int(group[-1]))], own_signals=len(group))
    return found
