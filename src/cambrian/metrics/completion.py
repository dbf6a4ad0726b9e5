"""First arrival and last departure of each flow at the bottleneck."""

from __future__ import annotations

import polars as pl

from cambrian.metrics.columns import flow_index, require


def flow_spans(packets: pl.DataFrame, flow_count: int) -> pl.DataFrame:
    """First and last sign of each flow at the bottleneck.

    One row a flow: ``flow``, ``packets`` (arrived), ``first_arrival_ns``,
    ``last_arrival_ns``, ``last_departure_ns`` (null where there is none). The span of a
    sized flow is its completion time as the bottleneck sees it; the application's own, with
    the handshake and the last round trip, comes from its ``connected`` and ``done`` events.
    """
    require(packets, "flow", "arrival_ns", "departure_ns")
    spans = packets.group_by("flow").agg(
        pl.len().cast(pl.Int64).alias("packets"),
        pl.col("arrival_ns").min().alias("first_arrival_ns"),
        pl.col("arrival_ns").max().alias("last_arrival_ns"),
        pl.col("departure_ns").max().alias("last_departure_ns"),
    )
    joined = flow_index(flow_count).join(spans, on="flow", how="left", maintain_order="left")
    return joined.with_columns(pl.col("packets").fill_null(0))
