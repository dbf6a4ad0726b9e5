"""A flow alone does not flood a queue of a bandwidth-delay product."""

from __future__ import annotations

import polars as pl

from cambrian.hunt.properties import Figure, bounded
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures

#: with a window of so many packets Reno has a loss in 150 packets, with fewer soon in thirty
_FEWEST_PACKETS = 20
#: CUBIC and Reno alone have 0.1 to 1 %
_MOST_PERCENT = 3.0


def percent(signals: pl.Expr) -> Figure:
    """Percentage of packets with a signal by the queue, in the second half of the trial.

    BBR's Startup may take more than the twenty round trips that other figures leave out.
    """

    def value(one: Figures, situation: Situation) -> float | None:
        del situation
        end_ns = int(one.result.manifest["guest"]["end_ns"])
        came = one.result.packets.filter(
            (pl.col("flow") == 0) & pl.col("arrival_ns").is_between(end_ns // 2, end_ns, closed="left")
        )
        return 100 * came.filter(signals).height / came.height if came.height else None

    return value


def _applies(one: Situation) -> bool:
    return one.is_steady and one.buffer_bdp >= 1 and one.bdp_packets >= _FEWEST_PACKETS


PROPERTIES = (
    bounded(
        "no-flood",
        says="After half of the trial, a flow alone behind 1 BDP or more has at most {most:g} % of its "
        "packets dropped.",
        source="RFC 2914, section 5; RFC 8085, section 3.1",
        applies=_applies,
        figure=percent(pl.col("outcome") == "dropped"),
        most=_MOST_PERCENT,
        shows="the queue drops {value:.1f} % of its packets",
    ),
    bounded(
        "few-marks",
        says="After half of the trial, a flow alone has at most {most:g} % of its packets marked.",
        source="RFC 3168, section 5; RFC 9002, section 7.1. The kernel's BBR does not react to marks",
        applies=lambda one: _applies(one) and one.ecn,
        figure=percent(pl.col("ce").fill_null(False)),
        most=_MOST_PERCENT,
        shows="the queue marks {value:.1f} % of its packets",
        families=("cubic", "reno"),
    ),
)
