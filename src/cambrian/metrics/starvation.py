"""Starvation: how long a flow has almost no throughput while others share its bottleneck.

RFC 9743 requires that a proposal not starve competing flows and gives no threshold; ours is 10 %
of the flow's max-min fair share, in windows of :mod:`cambrian.metrics.windows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics import windows
from cambrian.metrics.columns import BoolArray

#: of its fair share: below this a flow starves
THRESHOLD = 0.1


@dataclass(frozen=True)
class Starvation:
    """One flow: share of all windows in which it starved, and its longest run of such windows.

    ``longest_ns`` is the run's windows times their step: for how long the windowed throughput
    stayed below the threshold. Silences shorter than 9/10 of a window are invisible.
    """

    share_of_time: float
    longest_ns: int


def starvation(
    packets: pl.DataFrame,
    flow_count: int,
    rates: Sequence[tuple[int, float]],
    window_ns: int,
    t0_ns: int,
    t1_ns: int,
    *,
    threshold: float = THRESHOLD,
) -> list[Starvation]:
    """Each flow's starvation over the windows in [t0_ns, t1_ns); empty if no window fits.

    ``rates`` are the bottleneck's steps ``(from_ns, rate_mbps)``. Every flow is assumed to
    be greedy, so the fair share is the window's capacity over ``flow_count``.
    """
    seen = windows.sliding(packets, flow_count, window_ns, t0_ns, t1_ns)
    if not len(seen.start_ns):
        return []
    fair_mbps = windows.capacity_mbps(rates, seen) / flow_count
    starving = seen.throughput_mbps < threshold * fair_mbps
    return [
        Starvation(float(one.mean()), _longest_run(one) * seen.step_ns) for one in np.asarray(starving, bool)
    ]


def _longest_run(flags: BoolArray) -> int:
    edges = np.diff(np.concatenate([[0], flags.astype(np.int8), [0]]))
    lengths = np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
    return int(lengths.max(initial=0))
