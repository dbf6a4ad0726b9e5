"""Utilisation of the bottleneck, and its measured rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import BITS_PER_BYTE, departed, int64, require_interval, to_mbps


def capacity_bits(rates: Sequence[tuple[int, float]], t0_ns: int, t1_ns: int) -> float:
    """Bits that the bottleneck could carry in [t0_ns, t1_ns).

    ``rates`` are steps ``(from_ns, rate_mbps)`` in order of time, the first at or before
    ``t0_ns``; a fixed rate is the one step ``[(0, rate_mbps)]``.
    """
    require_interval(t0_ns, t1_ns)
    starts = [start for start, _ in rates]
    if not rates or starts != sorted(starts) or starts[0] > t0_ns:
        raise ValueError("rates must be steps in order of time, the first at or before t0_ns")
    ends = [*starts[1:], t1_ns]
    return sum(
        rate_mbps * 1e-3 * max(0, min(end, t1_ns) - max(start, t0_ns))
        for (start, rate_mbps), end in zip(rates, ends, strict=True)
    )


def utilisation(packets: pl.DataFrame, capacity: float, t0_ns: int, t1_ns: int) -> float:
    """Share of ``capacity`` (bits, see :func:`capacity_bits`) that left in [t0_ns, t1_ns).

    A token bucket's burst can make it larger than 1.
    """
    require_interval(t0_ns, t1_ns)
    if capacity <= 0:
        raise ValueError(f"capacity is {capacity} bits; it must be positive")
    return float(int64(departed(packets, t0_ns, t1_ns), "size_bytes").sum()) * BITS_PER_BYTE / capacity


@dataclass(frozen=True)
class Busy:
    """The bottleneck while it was busy: its departure rate over ``busy_ns`` in all, in ``runs`` of gaps."""

    rate_mbps: float
    busy_ns: int
    runs: int


def busy(packets: pl.DataFrame, burst_bytes: int) -> Busy | None:
    """The bottleneck's departure rate while it was busy; None if it never was.

    A busy period is a run of departures in which each packet waits when the previous one
    departs. A token bucket of at most ``burst_bytes`` begins a period with a burst, so a gap
    counts only after ``burst_bytes`` have departed in the period. The k-th of these gaps is
    exactly size(k+1) / rate, so the rate is the sum of the sizes over the sum of the gaps.
    """
    left = departed(packets).sort("departure_ns", maintain_order=True)
    if left.height <= 1:
        return None
    arrival, departure, size = (int64(left, name) for name in ("arrival_ns", "departure_ns", "size_bytes"))
    waiting = arrival[1:] <= departure[:-1]
    sent = np.cumsum(size)
    opens = np.concatenate([[True], ~waiting])
    sent_before_period = np.maximum.accumulate(np.where(opens, sent - size, 0))
    counted = waiting & ((sent - sent_before_period)[:-1] >= burst_bytes)
    busy_ns = int(np.diff(departure)[counted].sum())
    if not busy_ns:
        return None
    runs = int((counted & ~np.concatenate([[False], counted[:-1]])).sum())
    return Busy(to_mbps(float(size[1:][counted].sum()), busy_ns), busy_ns, runs)
