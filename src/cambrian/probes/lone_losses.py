"""Lone losses: the link loses exactly every n-th packet of the sender, many round trips apart.

The link loses the packets before the bottleneck's capture, so losses are found by counting: each n-th of the
packets that leave the sender's host is lost. Two echoes that measure the base round trip precede the flow
(:mod:`cambrian.testbed.probe`).
"""

from __future__ import annotations

import numpy as np

from cambrian.metrics.columns import NS_PER_S, Int64Array
from cambrian.probes import falls
from cambrian.probes.falls import Fall, Loss
from cambrian.probes.figures import Figure, NoFigure, NotInNetwork
from cambrian.probes.probed_flow import ProbedFlow

#: packets that measure the base round trip and leave the sender's host before its flow
PROBE_PACKETS = 2
#: the first loss does not count: the flow is in slow start, or has just left it
FIRST_COUNTED = 2
#: fewest losses for a mean
FEWEST = 3
#: largest relative change of a steady mean flight, over the second half of a flow's life
STEADY = 0.1
#: smallest share of losses that a fall follows, to say how soon
ANSWERED_SHARE = 0.5


def positions(packets: int, every: int) -> Int64Array:
    """Index of the first arrival after each loss: ``packets`` arrive, every ``every``-th sent is lost."""
    numbers = np.arange(1, packets // (every - 1) + 2, dtype=np.int64)
    places = numbers * (every - 1) - PROBE_PACKETS
    return places[(places > 0) & (places < packets)]


def followed(flow: ProbedFlow) -> list[Fall]:
    """The change of the flight after each lone loss.

    Raises:
        NotInNetwork: this network has no lone losses.
    """
    times = _lost_ns(flow)[FIRST_COUNTED - 1 :]
    return falls.after(flow, [Loss(int(time), int(time)) for time in times])


def kept(flow: ProbedFlow) -> Figure | NoFigure:
    """Share of the flight that the sender keeps after a lone loss, mean over the losses."""
    found = [one for one in followed(flow) if np.isfinite(one.kept)]
    if len(found) < FEWEST:
        return _too_few(found)
    return Figure(float(np.mean([one.kept for one in found])), len(found), falls.packet_share(flow, found))


def answered_percent(flow: ProbedFlow) -> Figure | NoFigure:
    """Percentage of the lone losses after which the flight fell within three round trips."""
    found = [one for one in followed(flow) if np.isfinite(one.kept)]
    if len(found) < FEWEST:
        return _too_few(found)
    return Figure(100 * float(np.mean([one.kept < falls.ANSWERED for one in found])), len(found))


def delay_trips(flow: ProbedFlow) -> Figure | NoFigure:
    """Round trips from a lone loss to the fall of the flight, mean over the losses after which it falls.

    Falls that follow fewer than half of the losses are not their answer.
    """
    every = followed(flow)
    found = [trips for one in every if np.isfinite(trips := falls.delay_trips(flow, one))]
    if len(found) < max(FEWEST, ANSWERED_SHARE * len(every)):
        return NoFigure(f"the flight falls after {len(found)} of {len(every)} undisturbed lone losses")
    return Figure(float(np.mean(found)), len(found), falls.HALF_TRIPS / 2)


def later(flow: ProbedFlow) -> Figure | NoFigure:
    """Share of the flight that the sender has five to six round trips after a lone loss, mean over losses."""
    found = [one for one in followed(flow) if np.isfinite(one.later)]
    if len(found) < FEWEST:
        return _too_few(found)
    return Figure(float(np.mean([one.later for one in found])), len(found), falls.packet_share(flow, found))


def window_packets(flow: ProbedFlow) -> Figure | NoFigure:
    """Mean flight over time in the second half of the flow's life, in full packets.

    If a CUBIC's or Reno's is not steady there, its later half is a limit: what slow start left may take
    minutes to decay. BBR's goes up and down with its cycle, and has no figure then.
    """
    times = flow.flight.arrival_ns
    half_ns = (flow.trace.start_ns + flow.trace.end_ns) // 2
    first = int(np.searchsorted(times, half_ns))
    losses = np.unique(np.searchsorted(times, _lost_ns(flow)))
    losses = losses[(losses >= first) & (losses < len(times))]
    # whole cycles from loss to loss, or halves of the time where there are too few
    middle, last = int(np.searchsorted(times, (half_ns + flow.trace.end_ns) // 2)), len(times) - 1
    if len(losses) <= 2 and not first < middle < last:
        return NoFigure("the flow sent nothing in the third or the last quarter of its life")
    edges = losses if len(losses) > 2 else np.array([first, middle, last])
    half = max((len(edges) - 1) // 2, 1)
    earlier, later = (
        _mean_packets(flow, int(edges[begin]), int(edges[end])) for begin, end in ((0, half), (-1 - half, -1))
    )
    trip_s = float(flow.flight.round_trip_ns[first:].mean()) / NS_PER_S
    rises, falls = later > earlier / (1 - STEADY), later < earlier * (1 - STEADY)
    if (rises or falls) and flow.trace.family == "bbr":
        return NoFigure(f"its flight still changes: from {earlier:.0f} packets to {later:.0f}")
    mean = later if rises or falls else _mean_packets(flow, first, last)
    return Figure(mean, len(losses), 1.0, trip_s, at_least=rises, at_most=falls)


def _mean_packets(flow: ProbedFlow, begin: int, end: int) -> float:
    """Mean flight over time between two arrivals, in full packets."""
    times, flights = flow.flight.arrival_ns, flow.flight.flight_bytes
    mean = np.average(flights[begin:end], weights=np.diff(times[begin : end + 1]) + 1)
    return float(mean) / flow.packet_bytes


def _lost_ns(flow: ProbedFlow) -> Int64Array:
    """Time of the first arrival after each loss. The network counts control packets, too."""
    every = flow.network.loss_every_packets
    if every is None:
        raise NotInNetwork(f"network {flow.network.name} has no loss_every_packets")
    return flow.arrivals_ns[positions(len(flow.arrivals_ns), every)]


def _too_few(found: list[Fall]) -> NoFigure:
    return NoFigure(f"{len(found)} undisturbed lone losses; {FEWEST} are needed")
