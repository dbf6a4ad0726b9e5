"""The response of a loss-based sender to each loss episode and CE mark: none, one, or several reductions.

From packets: does the flight fall, and stay low? From the exported window: how often is it reduced in one
episode? :mod:`cambrian.metrics.recovery.congestion_responses` finds the episodes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from cambrian.metrics.columns import BoolArray, int64
from cambrian.metrics.parameters import window
from cambrian.metrics.parameters.estimate import Estimate, Missing, of_share
from cambrian.metrics.parameters.flight import flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.recovery.congestion_responses import (
    CongestionResponses,
    congestion_responses,
    cuts_in_round_trips,
)
from cambrian.metrics.recovery.episodes import REACTIONS

#: families with a model of bandwidth, which do not react to single losses
_OTHERS = ("bbr",)
#: cuts in a round trip that stand for more of them as well: a dozen for one burst says no more of the others
MANY = 3
#: fewer of the episodes that show the number of cuts are an exception, and no rule of the sender
RARE = 0.1


def estimate(trace: FlowTrace) -> Iterator[Estimate | Missing]:
    """``losses_answered``, ``marks_answered`` and ``cuts_per_episode``; none for BBR."""
    if trace.family in _OTHERS:
        return
    found = _responses(trace)
    if isinstance(found, str):
        for name in ("losses_answered", "marks_answered"):
            yield Missing(name, found, "packets")
    else:
        yield _share(
            "losses_answered", found, found.observable & ~found.marked, "no loss episode in the queue"
        )
        yield _share("marks_answered", found, found.observable & found.marked, "no packet is marked")
    if trace.has_window:
        yield _cuts(trace, found)


def _cuts(trace: FlowTrace, found: CongestionResponses | str) -> Estimate | Missing:
    """Cuts of the window in the round trips with several, if they are not rare; else in the episodes."""
    if not trace.steady:
        # two cuts may be more than a round trip of that moment apart
        return Missing("cuts_per_episode", trace.changing, "window")
    by_trip = cuts_in_round_trips(window.of_stack(trace), trace.rtt_ns)
    # every sender cuts once for a single loss: single cuts are evidence only where several packets were lost
    several = by_trip[by_trip >= 2].clip(max=MANY).tolist()
    if several:
        once = 0 if isinstance(found, str) else int(np.count_nonzero(found.cuts == 1))
        if len(several) < RARE * (len(several) + once):
            why = f"only {len(several)} of {len(several) + once} such episodes are cut more than once"
            return Missing("cuts_per_episode", why, "window")
        return Estimate("cuts_per_episode", tuple(map(float, several)), 0.0, "window")
    if isinstance(found, str):
        return Missing("cuts_per_episode", f"no round trip with two cuts, and {found}")
    # zero cuts are a loss without a response, which the flight shows
    cuts = found.cuts[found.cuts >= 1]
    if not len(cuts):
        return Missing("cuts_per_episode", "no isolated episode with several drops")
    return Estimate("cuts_per_episode", tuple(map(float, cuts)), 0.0, "window")


def _responses(trace: FlowTrace) -> CongestionResponses | str:
    """The responses of a flow, or why they are unknown, in words."""
    if (why := trace.hidden) is not None:
        return why
    found = flight(trace.packets, trace.rtt_ns)
    own = window.of_stack(trace) if trace.has_window else None
    losses = trace.transport.filter(pl.col("event").is_in(REACTIONS))
    declared_ns = np.sort(int64(losses, "time_ns"))
    return congestion_responses(found, window.of_flight(trace, found), own, trace.forward_ns, declared_ns)


def _share(name: str, found: CongestionResponses, which: BoolArray, nothing: str) -> Estimate | Missing:
    count = int(which.sum())
    if not count:
        return Missing(name, nothing, "packets")
    return of_share(name, int(found.fell[which].sum()), count, "packets")
