"""What a flow gets that comes when another one has the link to itself already."""

from __future__ import annotations

import polars as pl

from cambrian.metrics.columns import NS_PER_S
from cambrian.probes.figures import Figure, Unseen
from cambrian.probes.seen import Seen

#: seconds that the late flow has to come to its share
SETTLING_S = 30


def share_percent(seen: Seen) -> Figure | Unseen:
    """The late flow's share of what both carry, from 30 s after its start to the end, in percent."""
    begin_ns = max(seen.starts_ns) + SETTLING_S * NS_PER_S
    late = seen.starts_ns.index(max(seen.starts_ns))
    gone = (pl.col("outcome") == "departed") & (pl.col("departure_ns") >= begin_ns)
    carried = seen.packets.filter(gone).group_by("flow").agg(pl.col("size_bytes").cast(pl.Int64).sum())
    bytes_of = dict(carried.iter_rows())
    if not bytes_of:
        return Unseen(f"nothing left the bottleneck from {SETTLING_S} s after the late flow's start on")
    return Figure(100 * bytes_of.get(late, 0) / sum(bytes_of.values()), 1)
