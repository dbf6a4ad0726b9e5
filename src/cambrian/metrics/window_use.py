"""A flow's congestion window over an interval: how large it is, and how fast it grows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_S, int64, require_interval


@dataclass(frozen=True)
class WindowUse:
    """``mean_bytes`` over time, ``most_bytes``, and ``growth_bytes_per_s``: the sum of all rises per second.

    So the growth is that between cuts, whatever the cuts take away.
    """

    mean_bytes: float
    most_bytes: int
    growth_bytes_per_s: float


def window_use(transport: pl.DataFrame, flow: int, t0_ns: int, t1_ns: int) -> WindowUse | None:
    """The window of one flow in [t0_ns, t1_ns); None where its trace names none before ``t1_ns``.

    Parameters:
        transport: columns ``flow``, ``time_ns``, ``cwnd_bytes`` (:data:`cambrian.trace.schema.TRANSPORT`).

    A window holds until the next row that names one; of rows of one instant the last counts. Where
    the trace begins after ``t0_ns``, the time before its first row is left out.

    Raises:
        ValueError: the interval is empty.
    """
    require_interval(t0_ns, t1_ns)
    mine = (pl.col("flow") == flow) & pl.col("cwnd_bytes").is_not_null() & (pl.col("time_ns") < t1_ns)
    named = transport.filter(mine).sort("time_ns", maintain_order=True)
    named = named.unique("time_ns", keep="last", maintain_order=True)
    if not named.height:
        return None
    times, windows = int64(named, "time_ns"), int64(named, "cwnd_bytes")
    first = max(int(np.searchsorted(times, t0_ns, side="right")) - 1, 0)
    starts, windows = np.maximum(times[first:], t0_ns), windows[first:]
    held_ns = np.diff(starts, append=t1_ns)
    span_ns = int(held_ns.sum())
    return WindowUse(
        mean_bytes=float((windows * held_ns).sum() / span_ns),
        most_bytes=int(windows.max()),
        growth_bytes_per_s=float(np.maximum(np.diff(windows), 0).sum() * NS_PER_S / span_ns),
    )
