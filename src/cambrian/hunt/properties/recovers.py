"""After a change of the path a flow carries again what the new path allows."""

from __future__ import annotations

from cambrian.hunt.properties import bounded
from cambrian.hunt.situation import LATER_AT, Situation
from cambrian.measure.figures import Figures
from cambrian.metrics.throughput import throughput


def _percent(one: Figures, situation: Situation) -> float:
    """Throughput over the last part of the trial, in percent of the link's rate then."""
    end_ns = int(one.result.manifest["guest"]["end_ns"])
    frame = throughput(one.result.packets, 1, round(LATER_AT * end_ns), end_ns)
    return 100 * float(frame.get_column("throughput_mbps")[0]) / situation.last_rate_mbps


PROPERTIES = (
    bounded(
        "recovers",
        says="Some time after a change of the path a flow carries at least {least:g} % of the rate.",
        source="RFC 9743, sections 7.8 and 7.9; RFC 5681, section 3.1",
        # with a longer round trip or four times the rate, Reno needs more rounds than there are
        applies=lambda one: (
            one.is_alone
            and one.is_lossless
            and one.event in ("quarter rate", "burst", "blackout", "a third of the RTT")
            and one.later_event == "none"
            and one.buffer_bdp >= 0.5
        ),
        figure=_percent,
        least=30.0,
        shows="over the last quarter of the trial it carries {value:.0f} % of the rate",
    ),
)
