"""Growth of a flow's flight between two of its own congestion signals.

A sender that only its window holds back must grow there: Reno by a packet a round trip (RFC 5681 section 3.1;
less if it counts acknowledgements that acknowledge several packets each), CUBIC by 0.53 packets on average
from one reduction to the next (RFC 9438 section 4.3), with a plateau between. Other flows share the queue,
but all drops and marks of this flow are in its packets.
"""

from __future__ import annotations

import numpy as np

from cambrian.metrics.columns import NS_PER_S, require_interval
from cambrian.metrics.parameters.flight import Flight
from cambrian.metrics.parameters.window import full_frame

#: round trips after a signal in which the sender recovers
_RECOVERY = 3
#: round trips at both ends of a stretch whose largest flights are compared
_ENDS = 2
#: fewest round trips of a stretch, and of all stretches together
_FEWEST, _FEWEST_TOGETHER = 8, 40
#: a shorter interval may be one plateau of CUBIC
_SHORTEST_NS = 10 * NS_PER_S
#: samples of a stretch from which its round trips are counted, because the queue changes them
_SAMPLES = 100


def packets_per_trip(found: Flight, t0_ns: int, t1_ns: int) -> float | None:
    """Full packets of growth of the flight a round trip, over stretches without a signal in [t0_ns, t1_ns).

    A stretch begins some round trips after a drop or mark, or at ``t0_ns``, and ends when the sender can know
    of the next one, or at ``t1_ns``. None if there are too few round trips in stretches that are long enough,
    or less than 10 s.

    Raises:
        ValueError: the interval is empty.
    """
    require_interval(t0_ns, t1_ns)
    if t1_ns - t0_ns < _SHORTEST_NS:
        return None
    learnt_ns = np.unique(found.learnt_ns[(found.learnt_ns >= t0_ns) & (found.learnt_ns < t1_ns)])
    begins_ns = [t0_ns, *(learnt_ns + _RECOVERY * found.trips_ns(learnt_ns)).tolist()]
    stretches = [
        _stretch(found, begin_ns, end_ns)
        for begin_ns, end_ns in zip(begins_ns, [*learnt_ns.tolist(), t1_ns], strict=True)
    ]
    grown_packets, trips = (sum(values) for values in zip(*stretches, strict=True))
    return grown_packets / trips if trips >= _FEWEST_TOGETHER else None


def _stretch(found: Flight, begin_ns: int, end_ns: int) -> tuple[float, float]:
    """Full packets by which the flight grows, and in how many round trips; zeros if it shows nothing."""
    samples_ns = np.linspace(begin_ns, end_ns, _SAMPLES).astype(np.int64)
    trips_ns = found.trips_ns(samples_ns) if end_ns > begin_ns else np.zeros(0, np.int64)
    if not len(trips_ns) or not trips_ns.all():
        return 0.0, 0.0
    trips = float(((end_ns - begin_ns) / trips_ns).mean())
    if trips < _FEWEST:
        return 0.0, 0.0
    first = found.most_bytes(begin_ns, begin_ns + _ENDS * int(trips_ns[0]))
    last = found.most_bytes(end_ns - _ENDS * int(trips_ns[-1]), end_ns)
    if np.isnan(first) or np.isnan(last):
        return 0.0, 0.0
    return (last - first) / full_frame(found.size_bytes), trips - _ENDS
