"""Outages, in which the link loses everything: a burst within one round trip, and a blackout of seconds.

An outage begins with a step of the schedule to 100 % loss and ends with the next step. Packets sent meanwhile
are lost before the queue.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from cambrian.metrics.columns import NS_PER_S, Int64Array, int64
from cambrian.metrics.throughput import carried_within
from cambrian.probes import falls
from cambrian.probes.falls import Fall, Loss
from cambrian.probes.figures import Figure, NoFigure, NotInNetwork
from cambrian.probes.probed_flow import ProbedFlow

#: an outage shorter than a round trip is a burst; one of at least this many round trips, in which timeouts
#: must occur, is a blackout
BLACKOUT_TRIPS = 5.0
FEWEST_BURSTS = 2
#: an outage between two trains loses nothing: the flow's longest gap before is as long. One that loses a
#: train leaves a gap of this many times that
MISSED_TRAIN = 1.5
#: lost packets stay in the sender's flight until it declares them lost, half a round trip later
LEARNT = 1.5
#: round trips after a burst in which silences are measured
HEARD = 10.0
#: round trips after the first data that follow a blackout in which a restart is measured: slow start from two
#: packets has eight by then
RESTART = (0.5, 3.0)
#: how much longer than all outages together a timer may run after the last one: timeouts double
TIMER = 2.0
#: a flow is back when it carries this share of the link for a second
BACK, BACK_OVER_S = 0.8, 1.0


def outages(flow: ProbedFlow) -> list[Loss]:
    """Each outage of the schedule, in times at the queue."""
    forward_ns = flow.trace.forward_ns
    return [
        Loss(begin_ns + forward_ns, end_ns + forward_ns)
        for begin_ns, end_ns in flow.lost_spans_ns("loss_percent")
    ]


def bursts(flow: ProbedFlow) -> list[Fall]:
    """The change of the flight after each undisturbed burst."""
    short = [one for one in outages(flow) if one.end_ns - one.begin_ns < flow.trace.rtt_ns]
    settled = [one for one in short if one.begin_ns >= flow.settled_ns]
    return [one for one in falls.after(flow, settled, learnt=LEARNT) if _has_hit(flow, one)]


def burst_kept(flow: ProbedFlow) -> Figure | NoFigure:
    """Share of the flight that the sender keeps after a burst of losses, mean over the bursts."""
    found = [one for one in bursts(flow) if np.isfinite(one.kept)]
    if len(found) < FEWEST_BURSTS:
        return NoFigure(f"{len(found)} undisturbed bursts; {FEWEST_BURSTS} are needed")
    return Figure(float(np.mean([one.kept for one in found])), len(found), falls.packet_share(flow, found))


def burst_silence_trips(flow: ProbedFlow) -> Figure | NoFigure:
    """Longest time without data after a burst, in round trips; mean over the bursts.

    Omits bursts whose time is cut off by the flow's end, or by the next outage: a silence there is not the
    sender's answer, and it is longer for a shorter round trip.
    """
    found = [one for one in bursts(flow) if _is_heard(flow, one)]
    if len(found) < FEWEST_BURSTS:
        heard = f"{HEARD:g} round trips without the flow's end or another outage"
        return NoFigure(f"{len(found)} undisturbed bursts followed by {heard}; {FEWEST_BURSTS} are needed")
    pauses = [_longest_pause_ns(flow.data_arrivals_ns, one) / one.trip_ns for one in found]
    return Figure(float(np.mean(pauses)), len(found))


def blackout_restart(flow: ProbedFlow) -> Figure | NoFigure:
    """Most bytes in one of the first round trips after a blackout, as a share of the flight before it.

    Counts from half a round trip to three round trips after the first data, which may be a probe.
    """
    found = _blackout(flow)
    if isinstance(found, NoFigure):
        return found
    _, before_bytes, back_ns = found
    if not _came_back(flow, back_ns):
        return NoFigure("the flow sent nothing after the blackout")
    from_ns, to_ns = (back_ns + trips * flow.trace.rtt_ns for trips in RESTART)
    most = flow.most_bytes_in_a_trip(from_ns, to_ns)
    if not most:
        return NoFigure("the flow sent no second packet soon after the blackout")
    return Figure(most / before_bytes, 1)


def blackout_silence(flow: ProbedFlow) -> Figure | NoFigure:
    """Time from a blackout's end to the flow's first data, as a share of the blackout's length."""
    found = _blackout(flow)
    if isinstance(found, NoFigure):
        return found
    blackout, _, back_ns = found
    return Figure((back_ns - blackout.end_ns) / (blackout.end_ns - blackout.begin_ns), 1)


def blackout_recovery_s(flow: ProbedFlow) -> Figure | NoFigure:
    """Time from the first data after a blackout until the flow carries 80 % of the link for a second."""
    found = _blackout(flow)
    if isinstance(found, NoFigure):
        return found
    if flow.network.rate_mbps is None:
        return NoFigure("the link has no constant rate")
    blackout, _, back_ns = found
    if not _came_back(flow, back_ns):
        return NoFigure("the flow sent nothing after the blackout")
    full_ns = _full_ns(flow, flow.network.rate_mbps)
    if not (full_ns < blackout.begin_ns).any():
        return NoFigure(f"the flow did not carry {100 * BACK:.0f} % of the link before the blackout either")
    again_ns = full_ns[full_ns >= back_ns]
    # one that was not full again by the trial's end took at least until then
    end_ns = int(again_ns[0]) if len(again_ns) else flow.end_ns
    return Figure(float(end_ns - back_ns) / NS_PER_S, 1, at_least=not len(again_ns))


def silent_end_s(flow: ProbedFlow) -> Figure | NoFigure:
    """Time from the flow's last data to the trial's end.

    No figure soon after an outage of either path: a sender's timer may still run.
    """
    keys: tuple[Literal["loss_percent", "return_loss_percent"], ...] = ("loss_percent", "return_loss_percent")
    spans_s = [span for key in keys for span in flow.network.lost_spans_s(key)]
    lost_s = sum(to_s - from_s for from_s, to_s in spans_s)
    if max((to_s for _, to_s in spans_s), default=0.0) + TIMER * lost_s > flow.end_ns / NS_PER_S:
        return NoFigure("the trial ends too soon after its last outage")
    if not len(flow.data_arrivals_ns):
        return NoFigure("the flow sent no data")
    return Figure(float(flow.end_ns - flow.data_arrivals_ns[-1]) / NS_PER_S, 1)


def _full_ns(flow: ProbedFlow, rate_mbps: float) -> Int64Array:
    """Departures after which the flow carries :data:`BACK` of the link for a second."""
    times, sizes = int64(flow.carried, "departure_ns"), int64(flow.carried, "size_bytes")
    span_ns = round(BACK_OVER_S * NS_PER_S)
    enough = carried_within(times, sizes, span_ns) >= BACK * rate_mbps * 1e6 / 8 * BACK_OVER_S
    return times[enough & (times + span_ns <= flow.trace.end_ns)]


def _blackout(flow: ProbedFlow) -> tuple[Loss, float, int] | NoFigure:
    """The first blackout, the flight before it in bytes, and the first arrival of data after it.

    Control packets do not count: a sender may answer its receiver's packets before its own timer ends.
    """
    trip_ns = BLACKOUT_TRIPS * flow.trace.rtt_ns
    found = next((one for one in outages(flow) if one.end_ns - one.begin_ns >= trip_ns), None)
    if found is None:
        raise NotInNetwork(f"network {flow.network.name} has no blackout in its schedule")
    position = int(np.searchsorted(flow.flight.arrival_ns, found.begin_ns)) - 1
    arrivals = flow.data_arrivals_ns
    after = int(np.searchsorted(arrivals, found.end_ns))
    if position < 0:
        return NoFigure("the flow had not started when the blackout began")
    # a flow that sent nothing more was silent at least until the trial's end
    back_ns = int(arrivals[after]) if after < len(arrivals) else flow.end_ns
    before = flow.most_in_flight(found.begin_ns - float(flow.flight.round_trip_ns[position]), found.begin_ns)
    if not np.isfinite(before):
        return NoFigure("the flow was silent when the blackout began")
    return found, before, back_ns


def _came_back(flow: ProbedFlow, back_ns: int) -> bool:
    return back_ns <= int(flow.data_arrivals_ns[-1])


def _has_hit(flow: ProbedFlow, fall: Fall) -> bool:
    """Has the outage lost packets for sure?"""
    arrivals_ns, loss = flow.data_arrivals_ns, fall.loss
    since, last, after = np.searchsorted(
        arrivals_ns, [loss.begin_ns - fall.trip_ns, loss.begin_ns, loss.end_ns]
    )
    usual_ns = int(np.diff(arrivals_ns[max(since - 1, 0) : last]).max(initial=0))
    if usual_ns < loss.end_ns - loss.begin_ns or after == len(arrivals_ns):
        return True
    return bool(arrivals_ns[after] - arrivals_ns[last - 1] >= MISSED_TRAIN * usual_ns)


def _is_heard(flow: ProbedFlow, fall: Fall) -> bool:
    """Does nothing end the time after a burst in which silences are measured?"""
    until_ns = fall.loss.end_ns + HEARD * fall.trip_ns
    next_ns = [one.begin_ns for one in outages(flow) if one.begin_ns >= fall.loss.end_ns]
    return until_ns <= min([flow.trace.end_ns, *next_ns])


def _longest_pause_ns(arrivals_ns: Int64Array, fall: Fall) -> float:
    """Longest time between arrivals after a burst; the first one counts from the burst's end."""
    first = int(np.searchsorted(arrivals_ns, fall.loss.end_ns))
    until_ns = fall.loss.end_ns + HEARD * fall.trip_ns
    last = int(np.searchsorted(arrivals_ns, until_ns))
    times = [fall.loss.end_ns, *arrivals_ns[first:last].tolist(), until_ns]
    return float(np.diff(times).max())
