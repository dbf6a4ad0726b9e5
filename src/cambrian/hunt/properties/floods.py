"""A flow alone does not flood a queue of a bandwidth-delay product."""

from __future__ import annotations

import polars as pl

from cambrian.hunt.properties import bounded
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures

#: with a window of so many packets Reno has a loss in 150 packets, with fewer soon in thirty
_FEWEST_PACKETS = 20


def _percent(one: Figures, situation: Situation) -> float | None:
    """Percentage of packets that the queue dropped or marked, in the second half of the trial.

    BBR's Startup may take more than the twenty round trips that other figures leave out.
    """
    del situation
    end_ns = int(one.result.manifest["guest"]["end_ns"])
    came = one.result.packets.filter(
        (pl.col("flow") == 0) & pl.col("arrival_ns").is_between(end_ns // 2, end_ns, closed="left")
    )
    signals = (pl.col("outcome") == "dropped") | pl.col("ce").fill_null(False)
    return 100 * came.filter(signals).height / came.height if came.height else None


PROPERTIES = (
    bounded(
        "no-flood",
        says="After half of the trial, a flow alone behind 1 BDP or more has at most {most:g} % of its "
        "packets dropped or marked.",
        source="RFC 2914, section 5; RFC 8085, section 3.1",
        applies=lambda one: one.is_steady and one.buffer_bdp >= 1 and one.bdp_packets >= _FEWEST_PACKETS,
        figure=_percent,
        # CUBIC and Reno alone have 0.1 to 1 %
        most=3.0,
        shows="the queue drops or marks {value:.1f} % of its packets",
    ),
)
