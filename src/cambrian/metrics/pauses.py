"""The longest time without a departure of a flow."""

from __future__ import annotations

import numpy as np
import polars as pl

from cambrian.metrics.columns import require


def longest_pause_ns(packets: pl.DataFrame, flow: int, t0_ns: int, t1_ns: int) -> int:
    """Longest time within [t0_ns, t1_ns) in which none of the flow's packets left the bottleneck.

    From the interval's begin to the first departure, between two, or from the last to its end;
    all of it where none left.
    """
    require(packets, "flow", "departure_ns")
    inside = packets.filter(
        (pl.col("flow") == flow) & pl.col("departure_ns").is_between(t0_ns, t1_ns, closed="left")
    )
    times_ns = inside.get_column("departure_ns").sort().to_numpy()
    return int(np.diff(np.concatenate(([t0_ns], times_ns, [t1_ns]))).max())
