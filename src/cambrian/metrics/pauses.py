"""The longest time in which a flow delivers no data."""

from __future__ import annotations

import numpy as np
import polars as pl

from cambrian.metrics.columns import SMALLEST_DATA_BYTES, require


def longest_pause_ns(packets: pl.DataFrame, flow: int, t0_ns: int, t1_ns: int) -> int:
    """Longest time within [t0_ns, t1_ns) in which none of the flow's packets with data left the bottleneck.

    A stalled sender may still answer its receiver's packets. From the interval's begin to the first such
    departure, between two, or from the last to its end; all of it where none left.
    """
    require(packets, "flow", "departure_ns", "size_bytes")
    data = (pl.col("flow") == flow) & (pl.col("size_bytes") >= SMALLEST_DATA_BYTES)
    inside = packets.filter(data & pl.col("departure_ns").is_between(t0_ns, t1_ns, closed="left"))
    times_ns = inside.get_column("departure_ns").sort().to_numpy()
    return int(np.diff(np.concatenate(([t0_ns], times_ns, [t1_ns]))).max())
