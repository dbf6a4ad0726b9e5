"""How the flows of one trial share the bottleneck over time: fair shares, starvation, joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from cambrian.metrics import convergence, maxmin, starvation, utilisation, windows
from cambrian.metrics.columns import NS_PER_MS
from cambrian.metrics.convergence import Convergence
from cambrian.metrics.starvation import Starvation
from cambrian.study.model import Trial


@dataclass(frozen=True)
class Sharing:
    """Of a trial of two or more flows that never end.

    ``of_fair`` is each flow's throughput over its max-min fair share in the measured
    interval, from the last flow's start on; ``starvation`` likewise one a flow. Both are empty for a link
    that follows a trace, whose capacity is not known from moment to moment, and if the last flow starts
    after the interval; ``starvation`` also where there is less time than a window. ``joins`` are those with
    enough time after them.
    """

    of_fair: tuple[float, ...]
    starvation: tuple[Starvation, ...]
    joins: tuple[Convergence, ...]


def measure_sharing(
    trial: Trial,
    packets: pl.DataFrame,
    shared_mbps: Sequence[float],
    rates: Sequence[tuple[int, float]],
    shared: tuple[int, int] | None,
    end_ns: int,
) -> Sharing:
    """How the flows share.

    Parameters:
        shared_mbps: throughput of each flow over ``shared``.
        rates: the bottleneck's steps ``(from_ns, rate_mbps)``, empty for a trace.
        shared: the part of the measured interval in which all flows have started; None if there is none.
        end_ns: end of the measured interval.
    """
    longest_rtt_ms = max(flow.base_rtt_ms(trial.network) for flow in trial.flows)
    window_ns = windows.length_ns(longest_rtt_ms)
    starts_ns = [round(flow.start_ms * NS_PER_MS) for flow in trial.flows]
    joins = convergence.convergence(packets, starts_ns, end_ns, window_ns)
    if not rates or shared is None:
        return Sharing((), (), tuple(joins))
    # a flow that has not started yet does not starve
    t0_ns, t1_ns = shared
    capacity_mbps = utilisation.capacity_bits(rates, t0_ns, t1_ns) / (t1_ns - t0_ns) * 1e3
    return Sharing(
        of_fair=tuple(maxmin.share_of_fair(shared_mbps, capacity_mbps).tolist()),
        starvation=tuple(starvation.starvation(packets, len(trial.flows), rates, window_ns, t0_ns, t1_ns)),
        joins=tuple(joins),
    )
