"""A flow alone does not flood a queue of a bandwidth-delay product."""

from __future__ import annotations

import polars as pl

from cambrian.hunt.properties import bounded
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures

#: with a window of so many packets Reno has a loss in 150 packets, with fewer soon in thirty
_FEWEST_PACKETS = 20


def _percent(one: Figures, situation: Situation) -> float | None:
    """Packets that the queue dropped or marked over the measured interval, of those that came, in percent."""
    del situation
    measures = one.measures
    came = one.result.packets.filter(
        (pl.col("flow") == 0) & pl.col("arrival_ns").is_between(measures.t0_ns, measures.t1_ns, closed="left")
    )
    signals = (pl.col("outcome") == "dropped") | pl.col("ce").fill_null(False)
    return 100 * came.filter(signals).height / came.height if came.height else None


PROPERTIES = (
    bounded(
        "no-flood",
        says="Once started, a flow alone behind 1 BDP or more has at most {most:g} % of its packets dropped "
        "or marked by the queue.",
        source="RFC 2914, section 5; RFC 8085, section 3.1",
        applies=lambda one: one.is_steady and one.buffer_bdp >= 1 and one.bdp_packets >= _FEWEST_PACKETS,
        figure=_percent,
        # CUBIC and Reno alone have 0.1 to 1 %
        most=3.0,
        shows="the queue drops or marks {value:.1f} % of its packets",
    ),
)
