"""The data of a chart over time: one trial in at most a few hundred bins."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from cambrian.metrics import queueing, throughput
from cambrian.metrics.columns import NS_PER_MS, NS_PER_S
from cambrian.store.results import TrialResult

#: round lengths
_BINS_MS = (10, 20, 50, 100, 200, 250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
#: most bins of a line
MOST_BINS = 240


@dataclass(frozen=True)
class Series:
    """One trial over time, in bins of ``bin_ms``; ``time_s`` is a bin's middle.

    ``throughput``: ``flow``, ``time_s``, ``throughput_mbps``. ``queue``: ``time_s``,
    ``mean_kb``, ``peak_kb`` (10^3 bytes). ``cwnd``: ``flow``, ``time_s``, ``cwnd_kb``, the last
    value in each bin that has one; flows that export no window have no row.
    """

    trial_id: str
    seed: int
    bin_ms: int
    throughput: pl.DataFrame
    queue: pl.DataFrame
    cwnd: pl.DataFrame


def bin_ms(duration_s: float, bins: int = MOST_BINS) -> int:
    """The shortest round length in ms that gives at most ``bins`` bins for ``duration_s``."""
    needed = duration_s * 1000 / bins
    return next((length for length in _BINS_MS if length >= needed), round(needed))


def read(
    result: TrialResult, *, flow_count: int, duration_s: float, seed: int, bins: int = MOST_BINS
) -> Series:
    """The series of one valid trial."""
    length_ms = bin_ms(duration_s, bins)
    length_ns = length_ms * NS_PER_MS
    end_ns = max(round(duration_s * NS_PER_S), length_ns)
    middle_s = (pl.col("time_ns") + length_ns // 2) / NS_PER_S
    flows = throughput.binned_throughput(result.packets, flow_count, length_ns, 0, end_ns)
    queue = queueing.binned_occupancy(result.packets, length_ns, 0, end_ns)
    return Series(
        trial_id=result.id,
        seed=seed,
        bin_ms=length_ms,
        throughput=flows.select("flow", middle_s.alias("time_s"), "throughput_mbps"),
        queue=queue.select(
            middle_s.alias("time_s"),
            (pl.col("mean_bytes") / 1000).alias("mean_kb"),
            (pl.col("max_bytes") / 1000).alias("peak_kb"),
        ),
        cwnd=_cwnd(result.transport, length_ns),
    )


def _cwnd(transport: pl.DataFrame, length_ns: int) -> pl.DataFrame:
    return (
        transport.lazy()
        .filter(pl.col("cwnd_bytes").is_not_null() & (pl.col("time_ns") >= 0))
        .with_columns(slot=pl.col("time_ns") // length_ns)
        .group_by("flow", "slot")
        .agg(pl.col("cwnd_bytes").last())
        .sort("flow", "slot")
        .select(
            "flow",
            ((pl.col("slot") * length_ns + length_ns // 2) / NS_PER_S).alias("time_s"),
            (pl.col("cwnd_bytes") / 1000).alias("cwnd_kb"),
        )
        .collect()
    )
