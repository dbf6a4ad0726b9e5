"""Without reordering a sender does not take packets for lost that arrive."""

from __future__ import annotations

from cambrian.hunt.properties import bounded
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures

#: fewer may be wrong: what a sender declares is counted at another place than what the network drops
_FEWEST = 20


def _percent(one: Figures, situation: Situation) -> float | None:
    del situation
    wrong, percent = one.value("spurious_losses"), one.value("spurious_loss_percent")
    if wrong is None or percent is None:
        return None
    return float(percent) if wrong >= _FEWEST else 0.0


PROPERTIES = (
    bounded(
        "no-spurious-losses",
        says="Without reordering at most {most:g} % of the packets declared lost arrive.",
        source="RFC 9002, section 6.1; RFC 8985",
        applies=lambda one: one.is_steady and not (one.jitter_ms or one.reorder_percent),
        figure=_percent,
        most=20.0,
        shows="{value:.0f} % of the packets declared lost had arrived",
    ),
)
