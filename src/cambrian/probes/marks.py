"""ECN: how a flow reacts when the queue marks its packets instead of dropping them."""

from __future__ import annotations

import numpy as np
import polars as pl

from cambrian.probes import falls, steady
from cambrian.probes.falls import Fall, Loss
from cambrian.probes.figures import Figure, Unseen
from cambrian.probes.seen import Seen

FEWEST = 3


def _unmarked(seen: Seen) -> Unseen | None:
    later = seen.trace.packets.filter(pl.col("arrival_ns") >= seen.settled_ns)
    if later["ce"].fill_null(False).any():
        return None
    if (later["outcome"] == "dropped").any():
        return Unseen("its packets do not support ECN: the queue dropped them instead of marking them")
    return Unseen("the queue marked none of its packets")


def delay_ms(seen: Seen) -> Figure | Unseen:
    """Mean queueing delay, if the queue marks; in ms."""
    return _unmarked(seen) or steady.delay_ms(seen)


def marked_percent(seen: Seen) -> Figure | Unseen:
    """Percentage of the packets that were marked."""
    if (why := _unmarked(seen)) is not None:
        return why
    later = seen.trace.packets.filter(pl.col("arrival_ns") >= seen.settled_ns)
    return Figure(100 * float(later["ce"].fill_null(False).sum()) / later.height, later.height)


def kept(seen: Seen) -> Figure | Unseen:
    """Share of the flight that the sender keeps after the marks of one round trip, mean over such groups."""
    if (why := _unmarked(seen)) is not None:
        return why
    found = _alone(seen)
    if len(found) < FEWEST:
        return Unseen(f"{len(found)} undisturbed round trips with marks; {FEWEST} are needed")
    packet = seen.flight.packet_bytes / float(np.median([one.before_bytes for one in found]))
    return Figure(float(np.mean([one.kept for one in found])), len(found), packet)


def _alone(seen: Seen) -> list[Fall]:
    """Groups of marks within one round trip, with no other signal near: one congestion event each."""
    times = np.sort(seen.flight.signal_ns[seen.flight.signal_ns >= seen.settled_ns])
    trip_ns = float(np.median(seen.flight.round_trip_ns))
    groups = np.split(times, np.flatnonzero(np.diff(times) > falls.CLEAR * trip_ns) + 1)
    found = []
    for group in groups:
        if len(group) and group[-1] - group[0] <= trip_ns:
            found += falls.after(seen, [Loss(int(group[0]), int(group[-1]))], own_signals=len(group))
    return found
