"""The share of a flow that starts when another flow already fills the link."""

from __future__ import annotations

import polars as pl

from cambrian.metrics.columns import NS_PER_S
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import ProbedFlow

#: seconds that the late flow has to reach its share
SETTLING_S = 30


def share_percent(flow: ProbedFlow) -> Figure | NoFigure:
    """The late flow's share of the bytes of both flows, from 30 s after its start to the end, in percent."""
    begin_ns = max(flow.starts_ns) + SETTLING_S * NS_PER_S
    late = flow.starts_ns.index(max(flow.starts_ns))
    departed = (pl.col("outcome") == "departed") & (pl.col("departure_ns") >= begin_ns)
    carried = flow.packets.filter(departed).group_by("flow").agg(pl.col("size_bytes").cast(pl.Int64).sum())
    bytes_of = dict(carried.iter_rows())
    if not bytes_of:
        return NoFigure(f"no packet departed later than {SETTLING_S} s after the late flow's start")
    return Figure(100 * bytes_of.get(late, 0) / sum(bytes_of.values()), 1)
