"""Without reordering a sender neither takes packets for lost that arrive, nor sends again what arrived."""

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


def _in_vain_percent(one: Figures, situation: Situation) -> float | None:
    """Of the bytes delivered, those that the application certainly got no use from."""
    del situation
    found = one.measures.recoveries[0]
    return found.redundancy.percent(found.redundancy.low_bytes) if found and found.redundancy else None


def _applies(one: Situation) -> bool:
    return one.is_steady and not (one.jitter_ms or one.reorder_percent)


PROPERTIES = (
    bounded(
        "no-spurious-losses",
        says="Without reordering at most {most:g} % of the packets declared lost arrive.",
        source="RFC 9002, section 6.1; RFC 8985",
        applies=_applies,
        figure=_percent,
        most=20.0,
        shows="{value:.0f} % of the packets declared lost had arrived",
    ),
    bounded(
        "nothing-in-vain",
        says="Without reordering at most {most:g} % of the bytes delivered had arrived before, or were "
        "discarded.",
        source="RFC 9000, section 13.3: what is acknowledged is not sent again; a probe may send data again "
        "(RFC 9002, section 6.2.4)",
        applies=_applies,
        figure=_in_vain_percent,
        most=2.0,
        shows="{value:.1f} % of the bytes delivered had arrived before, or were discarded",
    ),
)
