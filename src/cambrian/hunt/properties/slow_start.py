"""In slow start the window grows by what is acknowledged, and no faster."""

from __future__ import annotations

import polars as pl

from cambrian.hunt.properties import bounded
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures
from cambrian.metrics import window_growth
from cambrian.metrics.gates.capture import FRAME_BYTES

#: no stack of the catalogue begins with a larger window; it counts as no growth
_MOST_INITIAL_PACKETS = 64
#: on such a path a window that doubles each round trip has enough acknowledged before the queue is full
_LEAST_PIPE_PACKETS = 300


def _bytes_for_each_acknowledged(one: Figures, situation: Situation) -> float | None:
    """By how many bytes the window grows for each byte acknowledged, at most; until the queue drops one."""
    packets = one.result.packets.filter(pl.col("flow") == 0).sort("arrival_ns")
    dropped = packets.filter(pl.col("outcome") == "dropped")["arrival_ns"]
    if not dropped.is_empty():
        packets = packets.filter(pl.col("arrival_ns") < dropped[0])
    initial_bytes = _MOST_INITIAL_PACKETS * FRAME_BYTES
    return window_growth.for_each_acknowledged(packets, round(1e6 * situation.rtt_ms), initial_bytes)


PROPERTIES = (
    bounded(
        "slow-start-doubles",
        says="Until the queue drops a packet, the window of CUBIC or Reno grows by at most {most:g} bytes "
        f"for each byte acknowledged, beyond {_MOST_INITIAL_PACKETS} packets.",
        source="RFC 5681, section 3.1; RFC 9002, section 7.3.1: by the bytes acknowledged",
        applies=lambda one: (
            one.is_steady
            and one.pipe_packets >= _LEAST_PIPE_PACKETS
            and not (one.jitter_ms or one.reorder_percent)
        ),
        figure=_bytes_for_each_acknowledged,
        most=1.4,
        shows="the window grows by at least {value:.2f} bytes for each byte acknowledged",
        families=("cubic", "reno"),
    ),
)
