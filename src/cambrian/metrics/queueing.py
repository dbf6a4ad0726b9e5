"""True queueing delay and queue occupancy, from the bottleneck's own arrivals and departures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_MS, Int64Array, departed, int64, require

_DELAY_MS = (pl.col("departure_ns") - pl.col("arrival_ns")) / NS_PER_MS


def delay_summary(packets: pl.DataFrame, t0_ns: int | None = None, t1_ns: int | None = None) -> pl.DataFrame:
    """Queueing delay of each flow, and of all packets together, over departures in [t0_ns, t1_ns).

    One row for each flow with a departure, in order of flow, then one row with ``flow`` null
    for all packets together. Columns: ``flow``, ``packets``, ``mean_ms``, ``p50_ms``,
    ``p95_ms``, ``p99_ms``, ``max_ms``. Percentiles interpolate linearly (Hyndman-Fan 7).
    """
    delays = departed(packets, t0_ns, t1_ns).select("flow", _DELAY_MS.alias("delay_ms"))
    column = pl.col("delay_ms")
    figures = [
        pl.len().cast(pl.Int64).alias("packets"),
        column.mean().alias("mean_ms"),
        *(column.quantile(q / 100, "linear").alias(f"p{q}_ms") for q in (50, 95, 99)),
        column.max().alias("max_ms"),
    ]
    total = delays.select(pl.lit(None, dtype=pl.UInt16).alias("flow"), *figures)
    return pl.concat([delays.group_by("flow").agg(figures).sort("flow"), total])


def occupancy(packets: pl.DataFrame) -> pl.DataFrame:
    """Bytes and packets in the bottleneck's queue as a step function of time.

    occupancy(t) = packets that arrived until t, without those that were dropped or departed until t. One
    row for each time at which it may change, with the value *after* all events of that time. Columns:
    ``time_ns``, ``occupancy_bytes``, ``occupancy_packets``. If an AQM drops a packet from the queue, the
    time is unknown and the packet is not counted: with an AQM the occupancy is a lower bound.
    """
    require(packets, "arrival_ns", "departure_ns", "size_bytes", "outcome")
    entered = packets.filter(pl.col("outcome") != "dropped")
    left = entered.filter(pl.col("outcome") == "departed")
    times = np.concatenate([int64(entered, "arrival_ns"), int64(left, "departure_ns")])
    sizes = np.concatenate([int64(entered, "size_bytes"), -int64(left, "size_bytes")])
    counts = np.repeat([1, -1], [entered.height, left.height])
    order = np.argsort(times, kind="stable")  # two sorted runs, so little more than a merge
    times = times[order]
    settled = np.flatnonzero(np.append(times[1:] != times[:-1], True)[: len(times)])
    return pl.DataFrame(
        {
            "time_ns": times[settled],
            "occupancy_bytes": np.cumsum(sizes[order])[settled],
            "occupancy_packets": np.cumsum(counts[order])[settled],
        },
        schema={"time_ns": pl.Int64, "occupancy_bytes": pl.Int64, "occupancy_packets": pl.Int64},
    )


def max_occupancy_bytes(packets: pl.DataFrame) -> int:
    """Largest queue occupancy in bytes; 0 without packets."""
    peak = occupancy(packets).get_column("occupancy_bytes").max()
    return int(peak) if isinstance(peak, int) else 0


def binned_occupancy(packets: pl.DataFrame, bin_ns: int, t0_ns: int, t1_ns: int) -> pl.DataFrame:
    """Queue occupancy in consecutive bins, for plots: time-weighted mean and peak of each.

    Columns: ``time_ns`` (the bin's start), ``mean_bytes``, ``max_bytes``. Bins start at
    ``t0_ns``; a last bin that ends after ``t1_ns`` is left out.

    Raises:
        ValueError: the interval is shorter than a bin.
    """
    if bin_ns <= 0 or t1_ns - t0_ns < bin_ns:
        raise ValueError(f"no bin of {bin_ns} ns fits in [{t0_ns}, {t1_ns}) ns")
    steps = occupancy(packets)
    bins = (t1_ns - t0_ns) // bin_ns
    edges = t0_ns + np.arange(bins + 1, dtype=np.int64) * bin_ns
    times = int64(steps, "time_ns")
    # the queue is empty at first, so that every edge lies in a step
    times = np.concatenate([[min([t0_ns, *times[:1]])], times])
    levels = np.concatenate([[0], int64(steps, "occupancy_bytes")])
    filled = np.concatenate([[0.0], np.cumsum(levels[:-1] * np.diff(times).astype(np.float64))])
    at_edge = np.searchsorted(times, edges, side="right") - 1
    area = np.diff(filled[at_edge] + levels[at_edge] * (edges - times[at_edge]))
    # a bin's steps are those from its left edge to the last before its right edge
    after = np.searchsorted(times, edges[1:], side="left")
    runs = np.column_stack([at_edge[:-1], after]).ravel()
    peak = np.maximum.reduceat(np.append(levels, 0), runs)[::2]
    return pl.DataFrame({"time_ns": edges[:-1], "mean_bytes": area / bin_ns, "max_bytes": peak})


@dataclass(frozen=True)
class QueueOnArrival:
    """The occupancy just before each packet arrived, in bytes or packets, in order of arrival.

    A capture cannot order an arrival and a departure of the same time. So ``most`` counts these departures
    as still in the queue, ``least`` as gone.
    """

    least: Int64Array
    most: Int64Array


def queue_on_arrival(packets: pl.DataFrame, *, in_packets: bool = False, slack_ns: int = 0) -> QueueOnArrival:
    """Bounds on the occupancy just before each arrival, shape (packets,).

    Times that differ by ``slack_ns`` or less count as the same: so much may lie between a capture point and
    the queue.
    """
    require(packets, "arrival_ns", "departure_ns", "size_bytes", "outcome")
    amount = np.ones(packets.height, dtype=np.int64) if in_packets else int64(packets, "size_bytes")
    outcome = packets.get_column("outcome")
    entered = (outcome != "dropped").to_numpy()
    left = (outcome == "departed").to_numpy()
    accepted = amount * entered
    before = np.cumsum(accepted) - accepted
    departures = int64(packets.filter(pl.Series(left)), "departure_ns")
    order = np.argsort(departures, kind="stable")
    gone = np.concatenate([[0], np.cumsum(amount[left][order])])
    arrivals = int64(packets, "arrival_ns")
    surely_gone = gone[np.searchsorted(departures[order], arrivals - slack_ns, side="left")]
    maybe_gone = gone[np.searchsorted(departures[order], arrivals + slack_ns, side="right")]
    return QueueOnArrival(least=np.maximum(before - maybe_gone, 0), most=before - surely_gone)
