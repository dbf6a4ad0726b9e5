"""The start of a bulk flow: the largest burst of its first slow start."""

from __future__ import annotations

import numpy as np

from cambrian.metrics.columns import BITS_PER_BYTE
from cambrian.metrics.parameters.beginning import beginning
from cambrian.metrics.parameters.trains import trains
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import ProbedFlow

#: packets that follow each other ten times as fast as the link sends them leave together: a sender needs
#: several system calls for a large burst, and a pacer in slow start has two to three times the link's rate
_TOGETHER_SERVICE = 0.1


def burst_packets(flow: ProbedFlow) -> Figure | NoFigure:
    """Most packets that leave together after the initial window, before the sender knows of a signal."""
    begun = beginning(flow.trace)
    if begun is None:
        return NoFigure("its first flight of data is not visible")
    until_ns = min(flow.settled_ns, int(flow.flight.learnt_ns.min(initial=flow.settled_ns)))
    rate_mbps = flow.trace.rate_mbps
    if rate_mbps is None:
        return NoFigure("the link's rate changes")
    service_ns = flow.flight.packet_bytes * BITS_PER_BYTE * 1000 / rate_mbps
    packets = trains(flow.trace, _TOGETHER_SERVICE * service_ns).between(begun.next_ns, until_ns).packets
    if not len(packets):
        return NoFigure("it sent nothing between its first flight and the first drop or mark")
    return Figure(float(np.max(packets)), len(packets), 0.5)
