"""Throughput at the bottleneck.

It counts the frames (IP packet + 14 bytes) that *leave* the bottleneck, headers and retransmissions
included, in Mbps = 10^6 bit/s.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from cambrian.metrics.columns import (
    BITS_PER_BYTE,
    NS_PER_S,
    SMALLEST_DATA_BYTES,
    Int64Array,
    departed,
    flow_index,
    int64,
    require_interval,
    to_mbps,
)

#: fewest round trips, and seconds, that show the largest rate of a sender that probes now and then: BBR does
#: so every eight round trips, its later generations every two or three seconds
_PROBING_TRIPS, _PROBING_S = 100, 10
#: packets over which a rate is taken at least: a few leave together
_RATE_PACKETS = 32
#: of a sender that grows, the last third of an interval carries so many times as much as the first; a limit
#: of an application or a window keeps the rate, and BBR's round trips with little in flight change it by 2 %
_GROWTH = 1.05


def grows(packets: pl.DataFrame, t0_ns: int, t1_ns: int) -> bool:
    """Does clearly more leave the bottleneck in the last third of [t0_ns, t1_ns) than in the first?"""
    third_ns = (t1_ns - t0_ns) // 3
    first, last = (
        int(departed(packets, begin_ns, begin_ns + third_ns).get_column("size_bytes").cast(pl.Int64).sum())
        for begin_ns in (t0_ns, t1_ns - third_ns)
    )
    return last >= _GROWTH * max(first, 1)


def throughput(packets: pl.DataFrame, flow_count: int, t0_ns: int, t1_ns: int) -> pl.DataFrame:
    """Mean throughput of each flow over the departures in [t0_ns, t1_ns).

    Returns one row a flow (also for a flow that sent nothing): ``flow``, ``packets``,
    ``size_bytes``, ``throughput_mbps``.
    """
    require_interval(t0_ns, t1_ns)
    sums = (
        departed(packets, t0_ns, t1_ns)
        .group_by("flow")
        .agg(pl.len().cast(pl.Int64).alias("packets"), pl.col("size_bytes").cast(pl.Int64).sum())
    )
    mbps = pl.col("size_bytes") * (BITS_PER_BYTE * 1000.0 / (t1_ns - t0_ns))
    return (
        flow_index(flow_count)
        .join(sums, on="flow", how="left", maintain_order="left")
        .with_columns(pl.col("packets", "size_bytes").fill_null(0))
        .with_columns(mbps.alias("throughput_mbps"))
    )


def total_throughput_mbps(packets: pl.DataFrame, t0_ns: int, t1_ns: int) -> float:
    """Throughput of all flows together over the departures in [t0_ns, t1_ns)."""
    require_interval(t0_ns, t1_ns)
    return to_mbps(float(int64(departed(packets, t0_ns, t1_ns), "size_bytes").sum()), t1_ns - t0_ns)


def carried_within(times_ns: Int64Array, sizes_bytes: Int64Array, span_ns: int) -> Int64Array:
    """Bytes of each packet and of those within ``span_ns`` after it, shape (packets,); times in order."""
    carried = np.concatenate(([0], np.cumsum(sizes_bytes)))
    within: Int64Array = carried[np.searchsorted(times_ns, times_ns + span_ns)] - carried[:-1]
    return within


def rate_peak(packets: pl.DataFrame, flow: int, t0_ns: int, t1_ns: int, trip_ns: int) -> float | None:
    """A flow's largest sending rate within a round trip, as a multiple of its median one.

    Counts arrivals at the bottleneck in [t0_ns, t1_ns). About 1 for a sender with a constant rate; more for
    one that sends batches, if fewer than a hundred packets fit into a round trip. None if the interval is
    shorter than ten seconds or 100 round trips, or if the flow is silent in half of it.
    """
    sent = packets.filter(
        (pl.col("flow") == flow)
        & pl.col("arrival_ns").is_between(t0_ns, t1_ns, closed="left")
        & (pl.col("size_bytes") >= SMALLEST_DATA_BYTES)
    ).sort("arrival_ns")
    if t1_ns - t0_ns < max(_PROBING_S * NS_PER_S, _PROBING_TRIPS * trip_ns) or not sent.height:
        return None
    times, sizes = int64(sent, "arrival_ns"), int64(sent, "size_bytes")
    span_ns = max(trip_ns, _RATE_PACKETS * (t1_ns - t0_ns) // sent.height)
    carried = np.concatenate(([0], np.cumsum(sizes)))
    edges = carried[np.searchsorted(times, np.arange(t0_ns, t1_ns, span_ns))]
    median = float(np.median(np.diff(edges))) if len(edges) > 1 else 0.0
    within = carried_within(times, sizes, span_ns)[times + span_ns <= t1_ns]
    return float(within.max()) / median if median and len(within) else None


def binned_throughput(
    packets: pl.DataFrame, flow_count: int, bin_ns: int, t0_ns: int, t1_ns: int
) -> pl.DataFrame:
    """Throughput of each flow in consecutive bins, for plots.

    Bins start at ``t0_ns`` and are ``bin_ns`` long; a last bin that would not fit whole
    before ``t1_ns`` is left out. Every flow has a row in every bin, zero where it was
    silent. Columns: ``flow``, ``time_ns`` (the bin's start), ``throughput_mbps``.
    """
    if bin_ns <= 0:
        raise ValueError(f"bin_ns is {bin_ns}; it must be positive")
    bins = (t1_ns - t0_ns) // bin_ns
    if bins < 1:
        raise ValueError(f"no bin of {bin_ns} ns fits in [{t0_ns}, {t1_ns}) ns")
    chosen = departed(packets, t0_ns, t0_ns + bins * bin_ns)
    cell = int64(chosen, "flow") * bins + (int64(chosen, "departure_ns") - t0_ns) // bin_ns
    weights = int64(chosen, "size_bytes").astype(np.float64)
    sums = np.asarray(np.bincount(cell, weights=weights, minlength=flow_count * bins), dtype=np.float64)
    if len(sums) > flow_count * bins:
        raise ValueError(f"packets name flow {len(sums) // bins}, but the trial has {flow_count} flow(s)")
    return pl.DataFrame(
        {
            "flow": pl.Series(np.repeat(np.arange(flow_count), bins), dtype=pl.UInt16),
            "time_ns": t0_ns + np.tile(np.arange(bins, dtype=np.int64), flow_count) * bin_ns,
            "throughput_mbps": sums * (BITS_PER_BYTE * 1000.0 / bin_ns),
        }
    )
