"""By how much a window grows for what is acknowledged, from packets at the bottleneck."""

from __future__ import annotations

import numpy as np
import polars as pl

from cambrian.metrics.columns import int64
from cambrian.metrics.gates.capture import FRAME_BYTES

#: fewer acknowledged packets say little: how large the window was at first is not exactly known
LEAST_ACKED_PACKETS = 100
#: acknowledgements need at least the round trip without queueing; half a millisecond is for clocks and pipes
_SLACK_NS = 500_000


def for_each_acknowledged(packets: pl.DataFrame, rtt_ns: int, initial_bytes: int) -> float | None:
    """By how many bytes the window grows for each byte acknowledged, at most; None if too few are.

    In flight is at least what came to the queue, less what left it a round trip ago or earlier: nothing later
    can have been acknowledged. So the figure is too small rather than too large, whatever the queue delays
    and however the receiver acknowledges.

    Parameters:
        packets: of one flow, in order of arrival, from its start; none that was sent after it could know of a
            drop.
        rtt_ns: the round trip without queueing.
        initial_bytes: the window at the start, in frames.
    """
    arrivals_ns, sizes = int64(packets, "arrival_ns"), int64(packets, "size_bytes")
    left = packets.drop_nulls("departure_ns").sort("departure_ns")
    left_bytes = np.concatenate([[0], int64(left, "size_bytes").cumsum()])
    known_ns = arrivals_ns - rtt_ns + _SLACK_NS
    acked = left_bytes[np.searchsorted(int64(left, "departure_ns"), known_ns, side="right")]
    tells = acked >= LEAST_ACKED_PACKETS * FRAME_BYTES
    if not tells.any():
        return None
    grown = sizes.cumsum() - acked - initial_bytes
    return float((grown[tells] / acked[tells]).max())
