"""What a loss-based sender does at each loss episode and each CE mark: answer it, once, or not at all.

From packets: does the flight fall, and stay down? From the exported window: how often is it cut
in one episode? :mod:`cambrian.metrics.recovery.answers` finds the episodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from cambrian.metrics.columns import BoolArray
from cambrian.metrics.parameters import window
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.parameters.flight import flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.recovery.answers import Answers, answers

#: families with a model of bandwidth, which answer no single loss
_OTHERS = ("bbr",)


def estimate(trace: FlowTrace) -> Iterator[Estimate | Missing]:
    """``losses_answered``, ``marks_answered`` and ``cuts_per_episode``; nothing for BBR."""
    if trace.family in _OTHERS:
        return
    found = of(trace)
    if isinstance(found, str):
        for name in ("losses_answered", "marks_answered"):
            yield Missing(name, found, "packets")
        if trace.has_window:
            yield Missing("cuts_per_episode", found)
        return
    yield _share("losses_answered", found, found.seen & ~found.marked, "no loss episode in the queue")
    yield _share("marks_answered", found, found.seen & found.marked, "no packet is marked")
    if trace.has_window:
        # none is a loss without an answer, which the flight tells
        cuts = found.cuts[found.cuts >= 1]
        if len(cuts):
            yield Estimate(
                "cuts_per_episode", (float(cuts.mean()),), _error(cuts), "window", events=len(cuts)
            )
        else:
            yield Missing("cuts_per_episode", "no episode with several drops and nothing lost after it")


def of(trace: FlowTrace) -> Answers | str:
    """The episodes of a flow, or why they do not show."""
    if trace.random_loss:
        return "the path loses packets before the capture point"
    if not trace.alone:
        return "other flows share the queue, and their drops and delays blur the flight's falls"
    if not trace.steady:
        return "the path's delay changes, so that the flight is not known"
    found = flight(trace)
    own = window.of_stack(trace) if trace.has_window else None
    return answers(found, window.of_flight(trace, found), own, trace.forward_ns)


def _share(name: str, found: Answers, which: BoolArray, nothing: str) -> Estimate | Missing:
    count = int(which.sum())
    if not count:
        return Missing(name, nothing, "packets")
    share = float(found.fell[which].mean())
    error = 2 * math.sqrt(share * (1 - share) / count) + 0.5 / count
    return Estimate(name, (share,), error, "packets", events=count)


def _error(cuts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    """Two standard errors of the mean."""
    return float(2 * np.std(cuts) / math.sqrt(len(cuts)))
