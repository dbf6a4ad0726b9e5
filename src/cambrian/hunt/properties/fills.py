"""A flow alone fills a link that neither loses nor disorders packets."""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.hunt.properties import Property
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures

#: least part of the link, in percent; Reno behind half a BDP has over 90 %
LEAST_PERCENT = 50.0


def _percent(trials: Sequence[Figures], situation: Situation) -> float:
    return 100 * float(trials[0].value("throughput_mbps") or 0.0) / situation.rate_mbps


PROPERTIES = (
    Property(
        name="fills",
        says=f"Alone on a link without random loss a flow carries at least {LEAST_PERCENT:g} % of it.",
        source="RFC 5681 and RFC 9438: congestion avoidance grows until a loss",
        applies=lambda situation: (
            situation.is_lossless and situation.change == "none" and situation.buffer_bdp >= 0.5
        ),
        excess=lambda trials, situation: (LEAST_PERCENT - _percent(trials, situation)) / LEAST_PERCENT,
        shows=lambda trials, situation: f"it carries {_percent(trials, situation):.0f} % of the link",
    ),
)
