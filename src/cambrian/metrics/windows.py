"""Throughput of each flow in sliding windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import (
    BITS_PER_BYTE,
    NS_PER_MS,
    NS_PER_S,
    FloatArray,
    Int64Array,
    departed,
    int64,
)

#: a window slides by this part of its length
STEPS = 10
#: no window is shorter, so that BBR's ProbeRTT (200 ms) is not taken for silence
SHORTEST_NS = NS_PER_S
_RTTS = 10


@dataclass(frozen=True)
class Windows:
    """``throughput_mbps[flow, k]`` is of the departures in the ``length_ns`` from ``start_ns[k]`` on.

    Starts are ``step_ns`` apart; there are none if the interval is shorter than a window.
    """

    start_ns: Int64Array
    throughput_mbps: FloatArray
    length_ns: int
    step_ns: int


def length_ns(rtt_ms: float) -> int:
    """A window's length for flows whose longest base round trip this is: 10 of them, at least 1 s."""
    return max(SHORTEST_NS, round(_RTTS * rtt_ms * NS_PER_MS))


def sliding(packets: pl.DataFrame, flow_count: int, window_ns: int, t0_ns: int, t1_ns: int) -> Windows:
    """Windows of ``window_ns`` that lie wholly in [t0_ns, t1_ns), each a tenth of one after the last.

    ``window_ns`` is rounded down to ten whole nanoseconds.
    """
    step_ns = window_ns // STEPS
    if step_ns <= 0:
        raise ValueError(f"window_ns is {window_ns}; it must be {STEPS} or more")
    steps = max(0, (t1_ns - t0_ns) // step_ns)
    count = steps - STEPS + 1
    if count <= 0:
        nothing = np.zeros((flow_count, 0))
        return Windows(np.zeros(0, dtype=np.int64), nothing, step_ns * STEPS, step_ns)
    chosen = departed(packets, t0_ns, t0_ns + steps * step_ns)
    cell = int64(chosen, "flow") * steps + (int64(chosen, "departure_ns") - t0_ns) // step_ns
    weights = int64(chosen, "size_bytes").astype(np.float64)
    sums = np.bincount(cell, weights=weights, minlength=flow_count * steps)
    if len(sums) > flow_count * steps:
        raise ValueError(
            f"packets name flow {(len(sums) - 1) // steps}, but the trial has {flow_count} flow(s)"
        )
    before = np.zeros((flow_count, steps + 1))
    before[:, 1:] = np.cumsum(sums.reshape(flow_count, steps), axis=1)
    size_bytes = before[:, STEPS:] - before[:, :count]
    return Windows(
        start_ns=t0_ns + np.arange(count, dtype=np.int64) * step_ns,
        throughput_mbps=size_bytes * (BITS_PER_BYTE * 1000.0 / (step_ns * STEPS)),
        length_ns=step_ns * STEPS,
        step_ns=step_ns,
    )


def capacity_mbps(rates: Sequence[tuple[int, float]], windows: Windows) -> FloatArray:
    """Mean rate of the bottleneck in each window, shape (k,).

    ``rates`` as :func:`cambrian.metrics.utilisation.capacity_bits` takes them: steps
    ``(from_ns, rate_mbps)`` in order of time, the first at or before the first window.
    """
    starts = np.array([start for start, _ in rates], dtype=np.float64)
    mbps = np.array([rate for _, rate in rates], dtype=np.float64)
    carried = np.concatenate([[0.0], np.cumsum(np.diff(starts) * mbps[:-1])])

    def until(time_ns: Int64Array) -> FloatArray:
        step = np.searchsorted(starts, time_ns, side="right") - 1
        total: FloatArray = carried[step] + (time_ns - starts[step]) * mbps[step]
        return total

    ends = windows.start_ns + windows.length_ns
    mean: FloatArray = (until(ends) - until(windows.start_ns)) / windows.length_ns
    return mean
