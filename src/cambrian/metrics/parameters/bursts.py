"""Bursts: the number of packets that leave together.

With pacing this is the pacer's train. Without pacing it is the number of packets that one acknowledgement
releases: in steady state as many as it acknowledges. Nine of ten packets leave in trains of at most the
value; a window that moves half a packet on splits many trains in two.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from cambrian.metrics.columns import Int64Array
from cambrian.metrics.parameters.beginning import beginning
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.trains import Trains, trains

KEY = "burst_packets"
#: the share of packets in trains of at most the value
_SHARE = 0.9
#: round trips from the first data on that are left out: the initial window and slow start
_SKIPPED_ROUNDS = 20
#: equal parts of the trial, one value each; fewer where they would hold fewer packets
_PARTS = 20
_FEWEST_PACKETS = 100
#: trains are whole numbers of packets
_WHOLE = 0.5


def estimate(trace: FlowTrace) -> Iterator[Estimate | Missing]:
    """The usual burst after slow start, from packets alone."""
    if not trace.steady:
        yield Missing(KEY, f"{trace.changing}, which may make bursts", "packets")
        return
    begun = beginning(trace)
    first_ns = trace.start_ns if begun is None else begun.start_ns + _SKIPPED_ROUNDS * trace.rtt_ns
    rest = trains(trace).between(first_ns, trace.end_ns)
    if rest.packets.sum() < _FEWEST_PACKETS:
        yield Missing(KEY, "too few packets after slow start", "packets")
        return
    yield Estimate(KEY, _each_part(rest), _WHOLE, "packets")


def _each_part(rest: Trains) -> tuple[float, ...]:
    sent = np.cumsum(rest.packets)
    parts = int(min(_PARTS, sent[-1] // _FEWEST_PACKETS))
    number = np.minimum((sent - 1) * parts // sent[-1], parts - 1)
    edges = np.searchsorted(number, np.arange(parts + 1))
    pieces = [rest.packets[a:b] for a, b in pairwise(edges) if b > a]
    return tuple(_weighted_quantile(piece) for piece in pieces)


def _weighted_quantile(packets: Int64Array) -> float:
    ordered = np.sort(packets)
    carried = np.cumsum(ordered)
    return float(ordered[np.searchsorted(carried, _SHARE * carried[-1])])
