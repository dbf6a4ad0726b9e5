"""Without reordering a sender does not take packets for lost that arrive."""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.hunt.properties import Property
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures

#: most of the declared losses that may be wrong, in percent, and most packets: some are always possible, and
#: what a sender declares is counted at another place than what the network drops
MOST_PERCENT, MOST = 20.0, 20


def _excess(trials: Sequence[Figures], situation: Situation) -> float:
    del situation
    return min(_spurious(trials) / MOST - 1, _percent(trials) / MOST_PERCENT - 1)


def _spurious(trials: Sequence[Figures]) -> float:
    return float(trials[0].value("spurious_losses") or 0.0)


def _percent(trials: Sequence[Figures]) -> float:
    return float(trials[0].value("spurious_loss_percent") or 0.0)


PROPERTIES = (
    Property(
        name="no-spurious-losses",
        says=f"Without reordering at most {MOST_PERCENT:g} % of the packets declared lost arrive.",
        source="RFC 9002, section 6.1; RFC 8985",
        applies=lambda situation: (
            not (situation.jitter_ms or situation.reorder_percent) and situation.change == "none"
        ),
        excess=_excess,
        shows=lambda trials, _: (
            f"{_spurious(trials):.0f} packets ({_percent(trials):.0f} %) were declared lost and arrived"
        ),
    ),
)
