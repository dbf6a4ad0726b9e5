"""Lost acknowledgements: for seconds the return path loses everything, and only timeouts send packets.

The packets themselves still arrive, so the capture at the bottleneck shows each timeout. In a blackout of the
forward path it shows none.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cambrian.metrics.columns import NS_PER_S, Int64Array
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import ProbedFlow

#: packets nearer together than this share of the round trip (without queueing) belong to one timeout, which
#: may send two
TOGETHER_TRIPS = 0.5
#: fewer times between timeouts give fewer than two ratios
FEWEST_TIMES = 3


def timeout_growth(flow: ProbedFlow) -> Figure | NoFigure:
    """How much longer each timeout is than the one before: the median ratio of successive times between them.

    Timeouts that double give 2, constant ones 1.
    """
    times_ns = _times_ns(flow)
    return times_ns if isinstance(times_ns, NoFigure) else Figure(_growth(times_ns), len(times_ns))


def timeout_trips(flow: ProbedFlow) -> Figure | NoFigure:
    """The first timeout, in round trips without queueing.

    It is the second time divided by the growth, because the first time may count from an acknowledgement, and
    TCP's is that of its tail loss probe. The round trip without queueing is the least that a sender may have
    measured. Its smoothed one is not known from packets.
    """
    times_ns = _times_ns(flow)
    if isinstance(times_ns, NoFigure):
        return times_ns
    return Figure(float(times_ns[1]) / _growth(times_ns) / flow.trace.rtt_ns, 1)


def _growth(times_ns: Int64Array) -> float:
    return float(np.median(times_ns[1:] / times_ns[:-1]))


def _silence_ns(flow: ProbedFlow) -> tuple[int, int]:
    """The time at the queue in which no packet follows from an acknowledgement."""
    steps = [step for step in flow.network.schedule if step.return_loss_percent is not None]
    lost = next((pair for pair in pairwise(steps) if pair[0].return_loss_percent == 100), None)
    if lost is None:
        raise ValueError(f"network {flow.network.name} loses no acknowledgements in its schedule")
    begin_ns, end_ns = (round(step.at_s * NS_PER_S) for step in lost)
    # acknowledgements are lost at the beginning of the return path: those on their way still arrive
    return begin_ns + flow.trace.rtt_ns, end_ns + flow.trace.rtt_ns


def _times_ns(flow: ProbedFlow) -> Int64Array | NoFigure:
    """The times between successive timeouts; the first counts from the last packet before them."""
    begin_ns, end_ns = _silence_ns(flow)
    arrivals = flow.flight.arrival_ns
    first, last = np.searchsorted(arrivals, [begin_ns, end_ns])
    gaps = np.diff(arrivals[max(first - 1, 0) : last])
    times: Int64Array = gaps[gaps > TOGETHER_TRIPS * flow.trace.rtt_ns]
    if len(times) < FEWEST_TIMES:
        return NoFigure(
            f"{len(times)} timeouts while its acknowledgements were lost; {FEWEST_TIMES} are needed"
        )
    return times
