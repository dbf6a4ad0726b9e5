"""Loss ratios: drops by the queue, and random losses of the link."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cambrian.metrics.columns import flow_index, require, require_interval


def loss(
    packets: pl.DataFrame, link_packets: Sequence[int], random_loss_packets: Sequence[int]
) -> pl.DataFrame:
    """Loss of each flow and of all flows together.

    ``link_packets[i]`` is what flow i offered to its link, ``random_loss_packets[i]`` what the link
    lost before the bottleneck (:meth:`cambrian.store.results.TrialResult.link_counts`).
    One row a flow, then one whose ``flow`` is null with the totals:

    ``link_packets``, ``random_loss_packets``, ``bottleneck_packets`` (arrived there),
    ``queue_loss_packets`` (dropped there), ``departed_packets``, ``queued_packets`` (still
    there at the end), ``unaccounted_packets`` (offered, neither lost nor arrived: on the
    link's delay line at the end; negative where the link duplicates),
    ``random_loss_ratio`` (of those offered to the link), ``queue_loss_ratio`` (of those
    that reached the bottleneck), ``loss_ratio`` (both, of those offered). A ratio of
    nothing is null.

    Raises ``ValueError`` when the counters are not one per flow or contradict each other.
    """
    require(packets, "flow", "outcome")
    flows = len(link_packets)
    if len(random_loss_packets) != flows:
        raise ValueError(
            f"{flows} link_packets but {len(random_loss_packets)} random_loss_packets: give one per flow"
        )
    for flow, (offered, lost) in enumerate(zip(link_packets, random_loss_packets, strict=True)):
        if not 0 <= lost <= offered:
            raise ValueError(f"flow {flow}: {lost} packets lost at random of {offered} offered to the link")
    counted = packets.group_by("flow").agg(
        pl.len().cast(pl.Int64).alias("bottleneck_packets"),
        _count("dropped").alias("queue_loss_packets"),
        _count("departed").alias("departed_packets"),
        _count("queued").alias("queued_packets"),
    )
    strangers = counted.filter(pl.col("flow") >= flows).get_column("flow").to_list()
    if strangers:
        raise ValueError(f"packets name flow {min(strangers)}, but counters were given for {flows} flow(s)")
    per_flow = (
        flow_index(flows)
        .with_columns(
            pl.Series("link_packets", link_packets, dtype=pl.Int64),
            pl.Series("random_loss_packets", random_loss_packets, dtype=pl.Int64),
        )
        .join(counted, on="flow", how="left", maintain_order="left")
        .fill_null(0)
    )
    total = per_flow.sum().with_columns(pl.lit(None, dtype=pl.UInt16).alias("flow"))
    offered_all, arrived = pl.col("link_packets"), pl.col("bottleneck_packets")
    at_random, at_queue = pl.col("random_loss_packets"), pl.col("queue_loss_packets")
    return pl.concat([per_flow, total]).with_columns(
        (offered_all - at_random - arrived).alias("unaccounted_packets"),
        _ratio(at_random, offered_all).alias("random_loss_ratio"),
        _ratio(at_queue, arrived).alias("queue_loss_ratio"),
        _ratio(at_random + at_queue, offered_all).alias("loss_ratio"),
    )


def queue_loss_ratios(packets: pl.DataFrame, flow_count: int, t0_ns: int, t1_ns: int) -> list[float | None]:
    """Of each flow's packets that reached the bottleneck in [t0_ns, t1_ns), the share it dropped.

    None for a flow of which none came.
    """
    require(packets, "flow", "arrival_ns", "outcome")
    require_interval(t0_ns, t1_ns)
    found = (
        packets.filter((pl.col("arrival_ns") >= t0_ns) & (pl.col("arrival_ns") < t1_ns))
        .group_by("flow")
        .agg((pl.col("outcome") == "dropped").mean().alias("ratio"))
    )
    joined = flow_index(flow_count).join(found, on="flow", how="left", maintain_order="left")
    return joined.get_column("ratio").to_list()


def _count(outcome: str) -> pl.Expr:
    return (pl.col("outcome") == outcome).sum().cast(pl.Int64)


def _ratio(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    return pl.when(whole > 0).then(part / whole)
