"""The start of a bulk flow: the largest burst of its first slow start."""

from __future__ import annotations

import numpy as np

from cambrian.metrics.parameters.beginning import beginning
from cambrian.metrics.parameters.trains import trains
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import ProbedFlow


def burst_packets(flow: ProbedFlow) -> Figure | NoFigure:
    """Most packets that leave together after the initial window, and before the queue's first drop."""
    begun = beginning(flow.trace)
    if begun is None:
        return NoFigure("its first flight of data is not visible")
    until_ns = min(flow.settled_ns, int(flow.flight.learnt_ns.min(initial=flow.settled_ns)))
    packets = trains(flow.trace).between(begun.next_ns, until_ns).packets
    if not len(packets):
        return NoFigure("it sent nothing between its first flight and the queue's first drop")
    return Figure(float(np.max(packets)), len(packets), 0.5)
