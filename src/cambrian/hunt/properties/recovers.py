"""After a change of the path a flow carries again what the new path allows."""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.hunt.properties import Property
from cambrian.hunt.situation import CHANGE_S, DURATION_S, Situation
from cambrian.measure.figures import Figures
from cambrian.metrics.throughput import throughput

#: least part of the new rate over the last seconds, in percent
LEAST_PERCENT = 30.0
_LAST_S = 5.0
_NS = 1_000_000_000


def _percent(trials: Sequence[Figures], situation: Situation) -> float:
    factor = {"quarter rate": 0.25, "four times the rate": 4.0}.get(situation.change, 1.0)
    result = trials[0].result
    end_ns = int(result.manifest["guest"]["end_ns"])
    frame = throughput(result.packets, 1, end_ns - round(_LAST_S * _NS), end_ns)
    return 100 * float(frame.get_column("throughput_mbps")[0]) / (situation.rate_mbps * factor)


PROPERTIES = (
    Property(
        name="recovers",
        says=f"{DURATION_S - CHANGE_S - _LAST_S:g} s after a change of the path a flow carries at least "
        f"{LEAST_PERCENT:g} % of the new rate.",
        source="RFC 9743, section 6.6; RFC 5681, section 3.1",
        # with a longer round trip or four times the rate, Reno needs more rounds than there are
        applies=lambda situation: (
            situation.is_lossless
            and situation.change in ("quarter rate", "burst", "blackout")
            and situation.rtt_ms <= 100
            and situation.buffer_bdp >= 0.5
        ),
        excess=lambda trials, situation: (LEAST_PERCENT - _percent(trials, situation)) / LEAST_PERCENT,
        shows=lambda trials, situation: (
            f"over the last {_LAST_S:g} s it carries {_percent(trials, situation):.0f} % of the rate"
        ),
    ),
)
