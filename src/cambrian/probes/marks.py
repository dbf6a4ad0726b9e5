"""ECN: how a flow reacts when the queue marks its packets instead of dropping them."""

from __future__ import annotations

import numpy as np
import polars as pl

from cambrian.probes import falls, steady
from cambrian.probes.falls import Fall, Loss
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import ProbedFlow

FEWEST = 3


def _unmarked(flow: ProbedFlow) -> NoFigure | None:
    later = flow.trace.packets.filter(pl.col("arrival_ns") >= flow.settled_ns)
    if later["ce"].fill_null(False).any():
        return None
    if (later["outcome"] == "dropped").any():
        return NoFigure("its packets do not support ECN: the queue dropped them instead of marking them")
    return NoFigure("the queue marked none of its packets")


def delay_ms(flow: ProbedFlow) -> Figure | NoFigure:
    """Mean queueing delay, if the queue marks; in ms."""
    return _unmarked(flow) or steady.delay_ms(flow)


def marked_percent(flow: ProbedFlow) -> Figure | NoFigure:
    """Percentage of the packets that were marked."""
    if (why := _unmarked(flow)) is not None:
        return why
    later = flow.trace.packets.filter(pl.col("arrival_ns") >= flow.settled_ns)
    return Figure(100 * float(later["ce"].fill_null(False).sum()) / later.height, later.height)


def kept(flow: ProbedFlow) -> Figure | NoFigure:
    """Share of the flight that the sender keeps after the marks of one round trip, mean over such groups."""
    if (why := _unmarked(flow)) is not None:
        return why
    found = [one for one in _alone(flow) if np.isfinite(one.kept)]
    if len(found) < FEWEST:
        return NoFigure(f"{len(found)} undisturbed round trips with marks; {FEWEST} are needed")
    packet = flow.flight.packet_bytes / float(np.median([one.before_bytes for one in found]))
    return Figure(float(np.mean([one.kept for one in found])), len(found), packet)


def _alone(flow: ProbedFlow) -> list[Fall]:
    """Groups of marks within one round trip, with no other signal near: one congestion event each."""
    times = np.sort(flow.flight.signal_ns[flow.flight.signal_ns >= flow.settled_ns])
    trip_ns = float(np.median(flow.flight.round_trip_ns))
    groups = np.split(times, np.flatnonzero(np.diff(times) > falls.CLEAR * trip_ns) + 1)
    found = []
    for group in groups:
        if len(group) and group[-1] - group[0] <= trip_ns:
            found += falls.after(flow, [Loss(int(group[0]), int(group[-1]))], own_signals=len(group))
    return found
