"""A page load object by object: what each object waited for, and the times without data.

Reads one flow's rows of the columns ``objects`` (:data:`cambrian.trace.objects.OBJECTS`). Only
three times of an object are known (request, first byte, last byte), not its bytes in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_MS, Int64Array, departed, int64

#: what an object's bar is made of
PHASES = ("queued", "waiting", "receiving")
#: objects that end so soon after a stall were held back by it
_RELEASED_WITHIN_NS = 5 * NS_PER_MS


@dataclass(frozen=True)
class Stall:
    """The longest time in which no object began or ended although the flow's packets arrived.

    ``delivered_bytes``: frames that arrived meanwhile. ``after_loss``: the queue had dropped packets
    of the flow in it, or at most a round trip before. ``released``: objects that ended at its end.

    A stall with a loss and objects released by it is what head-of-line blocking looks like from
    outside; it is no proof of it, for one large object, or several sent in turns, look alike.
    """

    start_ms: float
    length_ms: float
    delivered_bytes: int
    after_loss: bool
    released: int


@dataclass(frozen=True)
class Waterfall:
    """One flow's page load: ``phases`` (see :func:`phases`), and how its images waited.

    ``waiting_ms``: median wait beyond a round trip; None without images. ``stall``: None if too
    little arrived.
    """

    flow: int
    phases: pl.DataFrame
    waiting_ms: float | None
    stall: Stall | None


def waterfalls(
    objects: pl.DataFrame, loads: pl.DataFrame, packets: pl.DataFrame, rtts_ms: Sequence[float]
) -> list[Waterfall]:
    """Every load of one trial that began, in order of flow; ``rtts_ms``: each flow's base round trip."""
    found = []
    for flow, began_ns in loads.sort("flow").select("flow", "navigation_start_ns").iter_rows():
        if began_ns is None:
            continue
        mine = objects.filter(pl.col("flow") == flow)
        sent = packets.filter(pl.col("flow") == flow)
        found.append(
            Waterfall(
                flow=flow,
                phases=phases(mine, began_ns),
                waiting_ms=waiting_ms(mine, rtts_ms[flow]),
                stall=longest_stall(mine, sent, began_ns=began_ns, rtt_ms=rtts_ms[flow]),
            )
        )
    return found


def phases(objects: pl.DataFrame, began_ns: int) -> pl.DataFrame:
    """One row an object that came: ``object``, ``kind``, ``size_bytes``, ``complete``, and in
    milliseconds since the navigation's start ``start_ms``, ``request_ms``, ``first_byte_ms``, ``end_ms``.

    From start to request it is *queued* (in the client: connection, priorities); to the first byte
    *waiting* (way there and back, the server, what is sent before it, losses); then *receiving*.
    """
    times = ("start", "request", "first_byte", "end")
    since = [((pl.col(f"{name}_ns") - began_ns) / NS_PER_MS).alias(f"{name}_ms") for name in times]
    return objects.drop_nulls([f"{name}_ns" for name in times]).select(
        "object", "kind", "size_bytes", "complete", *since
    )


def waiting_ms(objects: pl.DataFrame, rtt_ms: float) -> float | None:
    """Median over images of the time from request to first byte beyond a base round trip."""
    images = objects.filter(pl.col("kind") == "image")
    waits = images.select((pl.col("first_byte_ns") - pl.col("request_ns")).median()).item()
    return None if waits is None else max(waits / NS_PER_MS - rtt_ms, 0.0)


def longest_stall(
    objects: pl.DataFrame, packets: pl.DataFrame, *, began_ns: int, rtt_ms: float
) -> Stall | None:
    """The longest stall of one load, from its first image's first byte on; None with fewer than two moments.

    Parameters:
        objects, packets: of the flow alone.
        began_ns: the navigation's start, to count from.
    """
    images = objects.filter(pl.col("kind") == "image")
    ends = np.sort(int64(images.drop_nulls("end_ns"), "end_ns"))
    moments = np.unique(np.concatenate([ends, int64(images.drop_nulls("first_byte_ns"), "first_byte_ns")]))
    if len(moments) < 2:
        return None
    leaving = departed(packets).sort("departure_ns", maintain_order=True)
    sums = np.concatenate([[0], np.cumsum(int64(leaving, "size_bytes"))])
    delivered = np.diff(sums[np.searchsorted(int64(leaving, "departure_ns"), moments, side="right")])
    # without packets on the way the sender stalls, not the page
    lengths = np.where(delivered > 0, np.diff(moments), 0)
    at = int(lengths.argmax())
    start, end = int(moments[at]), int(moments[at + 1])
    drops = int64(packets.filter(pl.col("outcome") == "dropped"), "arrival_ns")
    return Stall(
        start_ms=(start - began_ns) / NS_PER_MS,
        length_ms=(end - start) / NS_PER_MS,
        delivered_bytes=int(delivered[at]),
        after_loss=_any_within(drops, start - round(rtt_ms * NS_PER_MS), end),
        released=int(np.count_nonzero((ends >= end) & (ends <= end + _RELEASED_WITHIN_NS))),
    )


def _any_within(times: Int64Array, low: int, high: int) -> bool:
    return bool(((times >= low) & (times < high)).any())
