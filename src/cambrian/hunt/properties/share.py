"""A flow neither starves kernel TCP with the same algorithm, nor is starved by it."""

from __future__ import annotations

from cambrian.hunt.properties import bounded
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures


def _share(one: Figures, situation: Situation) -> float | None:
    del situation
    return one.value("share_percent")  # type: ignore[no-any-return]


def _others(one: Figures, situation: Situation) -> float | None:
    share = _share(one, situation)
    return None if share is None else 100 - share


def _applies(situation: Situation) -> bool:
    return situation.rival != "none" and situation.is_lossless and situation.event == "none"


PROPERTIES = (
    bounded(
        "not-starved",
        says="Beside kernel TCP with the same algorithm a flow has at least {least:g} % of the throughput.",
        source="RFC 9743, section 5.2.1",
        applies=_applies,
        figure=_share,
        least=10.0,
        beside_kernel=True,
        shows="it has {value:.0f} % of the throughput",
    ),
    bounded(
        "starves-nobody",
        says="A flow leaves kernel TCP with the same algorithm at least {least:g} % of the throughput.",
        source="RFC 9743, section 5.2.1",
        applies=_applies,
        figure=_others,
        least=10.0,
        beside_kernel=True,
        shows="it leaves kernel TCP {value:.0f} % of the throughput",
    ),
)
