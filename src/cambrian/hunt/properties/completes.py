"""A flow of fixed size ends in good time."""

from __future__ import annotations

import math

import polars as pl

from cambrian.hunt.properties import bounded
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures

#: times the time of a slow start without losses on this path
_TIMES = 3
_INITIAL_WINDOW_BYTES = 14_720


def _most_s(situation: Situation) -> float:
    size_bytes = 1000 * situation.size_kb
    rounds = 2 + math.ceil(math.log2(1 + size_bytes / _INITIAL_WINDOW_BYTES))
    return _TIMES * (8e-6 * size_bytes / situation.rate_mbps + rounds * situation.rtt_ms / 1000)


def _fetch_s(one: Figures, situation: Situation) -> float | None:
    """From the client's start to its having all; the whole trial if it never has.

    None for servers that answer with bodies of their own size, and so carry more.
    """
    packets = one.result.packets
    carried = packets.filter((pl.col("flow") == 0) & (pl.col("outcome") == "departed"))
    size_bytes = 1000 * situation.size_kb
    if one.result.flow_end(0).get("outcome") != "finished" and carried["size_bytes"].sum() < size_bytes:
        return situation.duration_s
    return one.value("fetch_s")  # type: ignore[no-any-return]


PROPERTIES = (
    bounded(
        "completes",
        says=f"Alone, a flow of fixed size ends within {_TIMES} times the time of a slow start.",
        source="RFC 5681, section 3.1; RFC 9002, section 7.3.1",
        applies=lambda one: bool(one.size_kb) and one.is_lossless and one.buffer_bdp >= 0.5,
        figure=_fetch_s,
        most=_most_s,
        # of a flow that has not ended the trial's time is known
        shows="it takes {value:.2f} s or more; {bound:.2f} s are allowed",
    ),
)
