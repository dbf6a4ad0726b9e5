"""Performance envelopes: the region of a flow's points of throughput and delay.

Method ``imc22`` follows QUICbench's public code (Mishra, Lim, Leong: "Understanding
Speciation in QUIC Congestion Control", IMC 2022), quirks included; docs/reference/metrics.md lists
them, and our few deviations. One flow of one trial gives one envelope. :func:`pooled` joins several trials;
that is our own method, and named so.

Points are rows (throughput_mbps, delay_ms).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import shapely
from shapely.geometry.base import BaseGeometry

from cambrian.metrics.columns import (
    BITS_PER_BYTE,
    NS_PER_MS,
    NS_PER_S,
    FloatArray,
    Int64Array,
    departed,
    int64,
)

#: Window and sampling step, in round trips of the configured network.
WINDOW_RTTS = 10
#: Only t < this share of the duration is looked at.
TIME_KEPT = 0.95
#: This share of the points, those nearest the mean, makes the hull.
POINTS_KEPT = 0.95


class TooFewSamples(ValueError):
    """A flow was too short, or too sparse, to give a single point."""


@dataclass(frozen=True)
class Envelope:
    """One performance envelope.

    ``points`` (n, 2): every sample. ``kept`` (m, 2): the 95 % nearest to ``mean`` (2,), the
    mean of *all* the points; conformance counts the kept ones. ``hull``: their convex hull,
    x = throughput_mbps, y = delay_ms; a LineString or Point where they are collinear or
    fewer than 3. ``method``: ``"imc22"`` or ``"pooled"``. ``trials``: how many trials the
    points come from.
    """

    points: FloatArray
    kept: FloatArray
    mean: FloatArray
    hull: BaseGeometry
    method: str = "imc22"
    trials: int = 1

    @property
    def sd(self) -> FloatArray:
        """Standard deviation of all the points, shape (2,) in Mbps and ms; NaN for one point."""
        if len(self.points) < 2:
            return np.full(2, np.nan)
        return np.asarray(self.points.std(axis=0, ddof=1))

    @property
    def outline(self) -> FloatArray:
        """The hull's corners in order, shape (k, 2), not repeating the first."""
        corners: FloatArray = shapely.get_coordinates(self.hull)
        return corners[:-1] if isinstance(self.hull, shapely.Polygon) else corners


def imc22(packets: pl.DataFrame, flow: int, rtt_ms: float, duration_s: float) -> Envelope:
    """Envelope of one flow of one trial, by method ``imc22``.

    ``rtt_ms`` is the configured round trip without queueing, ``duration_s`` the trial's
    configured duration. Raises :class:`TooFewSamples` for a flow without a point.
    """
    samples = imc22_samples(packets, flow, rtt_ms, duration_s)
    return from_points(samples.select("throughput_mbps", "delay_ms").to_numpy())


def imc22_samples(packets: pl.DataFrame, flow: int, rtt_ms: float, duration_s: float) -> pl.DataFrame:
    """The points of method ``imc22``: ``time_ns``, ``throughput_mbps``, ``delay_ms``.

    At a departure at time t the window is the run of this flow's departures that ends with
    it and began more than 10 RTT before; throughput is all its frames (both ends included)
    over its length in time, delay the mean of their queueing delays. When a window has
    given a value its oldest packet leaves, and *only* that one. A point is taken at the
    first value of each 10 RTT. Slow start is kept; t ≥ 0.95·duration is not.
    """
    if rtt_ms <= 0 or duration_s <= 0:
        raise ValueError(f"rtt_ms is {rtt_ms} and duration_s is {duration_s}; both must be positive")
    window_ns = round(WINDOW_RTTS * rtt_ms * NS_PER_MS)
    end_ns = TIME_KEPT * duration_s * NS_PER_S
    mine = departed(packets).filter((pl.col("flow") == flow) & (pl.col("departure_ns") < end_ns))
    mine = mine.sort("departure_ns", maintain_order=True)
    times = int64(mine, "departure_ns")
    oldest = _one_step_a_row(np.searchsorted(times, times - window_ns, side="left"))
    full = np.flatnonzero(times - times[oldest] > window_ns)
    chosen = full[_first_of_each_period(times[full], window_ns)]

    first, last = oldest[chosen], chosen
    size_before = np.concatenate([[0], np.cumsum(int64(mine, "size_bytes"))])
    delay_before = np.concatenate([[0], np.cumsum(times - int64(mine, "arrival_ns"))])
    span_ns = times[last] - times[first]
    carried = (size_before[last + 1] - size_before[first]) * (BITS_PER_BYTE * 1000.0)
    waited_ms = (delay_before[last + 1] - delay_before[first]) / NS_PER_MS
    return pl.DataFrame(
        {
            "time_ns": times[chosen],
            "throughput_mbps": carried / span_ns,
            "delay_ms": waited_ms / (last + 1 - first),
        }
    )


def _one_step_a_row(target: Int64Array) -> Int64Array:
    """Follow ``target`` by at most one step a row, one row late.

    x[0] = 0, x[i+1] = min(x[i] + 1, target[i]); returns x[0..n-1]. It is what a loop of
    "if behind: advance once" does, in closed form: x[i+1] - (i+1) is the running minimum of
    target[i] - (i+1), or 0 while that is larger.
    """
    rows = np.arange(1, len(target) + 1, dtype=np.int64)
    lag = np.minimum(np.minimum.accumulate(target - rows), 0)
    return np.concatenate([[0], (lag + rows)[:-1]]).astype(np.int64)[: len(target)]


def _first_of_each_period(times: Int64Array, period_ns: int) -> Int64Array:
    """Rows at which "if t ≥ next: take it; next += period" takes a point.

    ``next`` starts at the first time. After a silence of k periods the next k rows are all
    taken, as in the original.
    """
    if len(times) == 0:
        return np.zeros(0, dtype=np.int64)
    due = (times - times[0]) // period_ns + 1
    return np.flatnonzero(_one_step_a_row(due) < due)


def from_points(points: FloatArray, method: str = "imc22", trials: int = 1) -> Envelope:
    """Envelope of points (n, 2): trim to the 95 % nearest the mean, then one convex hull.

    Distances are Euclidean in raw Mbps and ms, the count kept is floor(0.95·n) but at least
    one, and of equally distant points the earlier is kept.
    """
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"points must have shape (n, 2), not {points.shape}")
    if len(points) == 0:
        raise TooFewSamples(
            f"no sample: the flow had no window of {WINDOW_RTTS} RTT before "
            f"{TIME_KEPT:.0%} of the duration; give the trial a longer duration"
        )
    if not np.all(np.isfinite(points)):
        raise ValueError("points must be finite")
    mean = points.mean(axis=0)
    distance = np.square(points - mean).sum(axis=1)
    count = max(1, int(len(points) * POINTS_KEPT))
    kept = points[np.argsort(distance, kind="stable")[:count]]
    hull = shapely.MultiPoint(kept).convex_hull
    return Envelope(points, kept, mean, hull, method, trials)


def pooled(envelopes: Sequence[Envelope]) -> Envelope:
    """One envelope from all points of several trials' ``imc22`` envelopes. Ours, not QUICbench's.

    The trim and the hull are done anew on the joined points. Its points are correlated
    within a trial, so no interval may be drawn from them: seeds are the replicates.
    """
    if not envelopes:
        raise ValueError("pooling needs at least one envelope")
    points = np.concatenate([envelope.points for envelope in envelopes])
    return from_points(points, "pooled", sum(envelope.trials for envelope in envelopes))
