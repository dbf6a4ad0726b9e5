"""A flow alone does not flood a queue of a bandwidth-delay product."""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.hunt.properties import Property
from cambrian.measure.figures import Figures

#: highest loss at the queue; CUBIC and Reno alone lose 0.1 to 1 %, their slow start a queue's worth
MOST_PERCENT = 10.0


def _loss_percent(trials: Sequence[Figures]) -> float:
    return float(trials[0].value("queue_loss_percent") or 0.0)


PROPERTIES = (
    Property(
        name="no-flood",
        says=f"Alone behind a buffer of 1 BDP or more a flow loses at most {MOST_PERCENT:g} % at the queue.",
        source="RFC 2914, section 5; RFC 8085, section 3.1",
        applies=lambda situation: situation.buffer_bdp >= 1 and situation.change == "none",
        excess=lambda trials, _: _loss_percent(trials) / MOST_PERCENT - 1,
        shows=lambda trials, _: f"it loses {_loss_percent(trials):.1f} % of its packets at the queue",
    ),
)
