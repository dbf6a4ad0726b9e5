"""The share of a flow that starts when another flow already fills the link."""

from __future__ import annotations

import polars as pl

from cambrian.metrics.columns import NS_PER_S
from cambrian.probes.figures import Figure, Unseen
from cambrian.probes.seen import Seen

#: seconds that the late flow has to reach its share
SETTLING_S = 30


def share_percent(seen: Seen) -> Figure | Unseen:
    """The late flow's share of the bytes of both flows, from 30 s after its start to the end, in percent."""
    begin_ns = max(seen.starts_ns) + SETTLING_S * NS_PER_S
    late = seen.starts_ns.index(max(seen.starts_ns))
    departed = (pl.col("outcome") == "departed") & (pl.col("departure_ns") >= begin_ns)
    carried = seen.packets.filter(departed).group_by("flow").agg(pl.col("size_bytes").cast(pl.Int64).sum())
    bytes_of = dict(carried.iter_rows())
    if not bytes_of:
        return Unseen(f"no packet departed later than {SETTLING_S} s after the late flow's start")
    return Figure(100 * bytes_of.get(late, 0) / sum(bytes_of.values()), 1)
