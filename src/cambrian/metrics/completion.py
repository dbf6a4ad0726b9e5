"""First arrival and last departure of each flow at the bottleneck."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cambrian.metrics.columns import flow_index, require


def flow_spans(
    packets: pl.DataFrame, flow_count: int, complete_ns: Sequence[int | None] = ()
) -> pl.DataFrame:
    """First and last sign of each flow at the bottleneck.

    ``complete_ns``: when each flow's receiver had everything, empty or None if it is unknown. What leaves the
    bottleneck later is left out: a sender may repeat its last packets long after its receiver has ended.

    One row a flow: ``flow``, ``packets`` (arrived), ``first_arrival_ns``,
    ``last_arrival_ns``, ``last_departure_ns`` (null where there is none). The span of a
    sized flow is its completion time as the bottleneck sees it; the application's own, with
    the handshake and the last round trip, comes from its ``connected`` and ``done`` events.
    """
    require(packets, "flow", "arrival_ns", "departure_ns")
    ends = {flow: end for flow, end in enumerate(complete_ns) if end is not None}
    if ends:
        known = pl.DataFrame(
            {"flow": list(ends), "end_ns": list(ends.values())},
            schema={"flow": packets.schema["flow"], "end_ns": pl.Int64},
        )
        # a packet that was dropped has no departure
        left_ns = pl.coalesce("departure_ns", "arrival_ns")
        late = pl.col("end_ns").is_not_null() & (left_ns > pl.col("end_ns"))
        packets = packets.join(known, on="flow", how="left").filter(~late)
    spans = packets.group_by("flow").agg(
        pl.len().cast(pl.Int64).alias("packets"),
        pl.col("arrival_ns").min().alias("first_arrival_ns"),
        pl.col("arrival_ns").max().alias("last_arrival_ns"),
        pl.col("departure_ns").max().alias("last_departure_ns"),
    )
    joined = flow_index(flow_count).join(spans, on="flow", how="left", maintain_order="left")
    return joined.with_columns(pl.col("packets").fill_null(0))
