"""A flow alone fills a link that neither loses nor disorders packets."""

from __future__ import annotations

from cambrian.hunt.properties import bounded, mbps
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures


def _percent(one: Figures, situation: Situation) -> float:
    return 100 * mbps(one) / situation.rate_mbps


PROPERTIES = (
    bounded(
        "fills",
        says="Alone on a link without random loss a flow carries at least {least:g} % of it.",
        source="RFC 5681 and RFC 9438: congestion avoidance grows until a loss",
        # Reno behind half a BDP has over 90 %
        applies=lambda one: one.is_steady and one.is_lossless and one.buffer_bdp >= 0.5,
        figure=_percent,
        least=50.0,
        shows="it carries {value:.0f} % of the link",
    ),
)
