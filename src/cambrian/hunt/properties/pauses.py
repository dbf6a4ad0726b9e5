"""A flow with data to send is never silent for long."""

from __future__ import annotations

import polars as pl

from cambrian.hunt.properties import bounded
from cambrian.hunt.situation import BLACKOUT_S, Situation
from cambrian.measure.figures import Figures
from cambrian.metrics import pauses

#: three probe timeouts in a row, at a short round trip
_LEAST_MS = 750.0
_ROUND_TRIPS = 10


def _most_ms(situation: Situation) -> float:
    dark_s = BLACKOUT_S * (situation.event, situation.later_event).count("blackout")
    # timeouts double, so the last one may be as long as the dark time
    return max(_ROUND_TRIPS * situation.longest_rtt_ms, _LEAST_MS) + 2 * 1000 * dark_s


def _pause_ms(one: Figures, situation: Situation) -> float | None:
    """The longest time in which no data of the flow comes to the queue or leaves it.

    From the flow's first departure to the end. A sender whose packets the queue drops is not silent. Nor is
    one that waits for its packets to leave a long queue.
    """
    del situation
    packets = one.result.packets
    first_ns = packets.filter(pl.col("flow") == 0).get_column("departure_ns").min()
    if first_ns is None:
        return None
    end_ns = int(one.result.manifest["guest"]["end_ns"])
    seen = pl.concat([packets, packets.with_columns(departure_ns=pl.col("arrival_ns"))])
    return pauses.longest_pause_ns(seen, 0, int(str(first_ns)), end_ns) / 1e6


PROPERTIES = (
    bounded(
        "no-silence",
        says="A flow with data to send is never silent for longer than ten round trips or 0.75 s, whichever "
        "is longer. For each blackout of one second on the path, two more seconds are allowed.",
        source="RFC 9002, section 6.2.1; RFC 6298, section 2",
        applies=lambda one: one.loss_percent <= 1 and not one.size_kb,
        figure=_pause_ms,
        most=_most_ms,
        shows="it sends nothing for {value:.0f} ms; {bound:.0f} ms are allowed",
    ),
)
