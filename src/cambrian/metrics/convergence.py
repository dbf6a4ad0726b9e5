"""Convergence: the time from a flow's join until the flows share the link fairly for good."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics import windows
from cambrian.metrics.columns import NS_PER_S, BoolArray, FloatArray

#: Jain's index from which flows share fairly: of two, the smaller has half of the larger or more
JAIN = 0.9
#: for how long it must stay so
HOLD_NS = 5 * NS_PER_S


@dataclass(frozen=True)
class Convergence:
    """After the join of ``flow`` at ``start_ns``, the ``place``-th in the order of starts; the first is 1.

    ``time_ns`` runs from there to the end of the first window from which on Jain's index
    stays high for the hold; so it is a window at least. None: it did not come so far in the
    ``observed_ns`` until the next join or the end, and the true time is longer (censored).
    """

    flow: int
    start_ns: int
    time_ns: int | None
    observed_ns: int
    place: int = 1


def convergence(
    packets: pl.DataFrame,
    starts_ns: Sequence[int],
    end_ns: int,
    window_ns: int,
    *,
    jain: float = JAIN,
    hold_ns: int = HOLD_NS,
) -> list[Convergence]:
    """Every join with enough undisturbed time after it for a window and the hold; in order of time.

    ``starts_ns`` has one start a flow; flows never end. A join is the start of a flow after
    the first one's; the flows that share are those that have started by then.
    """
    found = []
    order = sorted(range(len(starts_ns)), key=lambda flow: starts_ns[flow])
    for place, flow in enumerate(order[1:], start=1):
        start_ns = starts_ns[flow]
        until_ns = starts_ns[order[place + 1]] if place + 1 < len(order) else end_ns
        seen = windows.sliding(packets, len(starts_ns), window_ns, start_ns, until_ns)
        steps = math.ceil(hold_ns / seen.step_ns)
        # a hold that is no whole number of steps needs the next step whole
        if len(seen.start_ns) <= steps:
            continue
        fair = _jain(seen.throughput_mbps[order[: place + 1]]) >= jain
        first = _first_held(fair, steps)
        time_ns = None if first is None else int(seen.start_ns[first]) + seen.length_ns - start_ns
        found.append(Convergence(flow, start_ns, time_ns, until_ns - start_ns, place))
    return found


def _jain(throughput_mbps: FloatArray) -> FloatArray:
    """Jain's index of each column; 0 for a column without throughput."""
    squares = len(throughput_mbps) * np.square(throughput_mbps).sum(axis=0)
    total = np.square(throughput_mbps.sum(axis=0))
    return np.asarray(np.divide(total, squares, out=np.zeros_like(total), where=squares > 0))


def _first_held(flags: BoolArray, steps: int) -> int | None:
    """The first place from which ``steps`` further ones hold too."""
    counts = np.concatenate([[0], np.cumsum(flags)])
    held = np.flatnonzero(counts[steps + 1 :] - counts[: -steps - 1] == steps + 1)
    return int(held[0]) if len(held) else None
