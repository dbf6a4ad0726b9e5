"""A flow with data to send gives up only if its path is dead."""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.hunt.properties import Property
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures
from cambrian.metrics.gates import ENDED_EARLY

NAME = "goes-on"


def _outcome(trials: Sequence[Figures]) -> str:
    return str(trials[0].result.flow_end(0).get("outcome", ""))


def _excess(trials: Sequence[Figures], situation: Situation) -> float:
    del situation
    return 1.0 if _outcome(trials) in (*ENDED_EARLY, "failed") else -1.0


def _shows(trials: Sequence[Figures], situation: Situation) -> str:
    del situation
    reasons = trials[0].result.verdict["reasons"]
    return f"the flow {_outcome(trials)}" + (f" ({reasons[0]})" if reasons else "")


PROPERTIES = (
    Property(
        name=NAME,
        says="A flow with data to send goes on to the end of the trial.",
        source="RFC 9000, section 10.1; RFC 9002, section 6.2: probe timeouts go on until the idle timeout",
        applies=lambda situation: True,
        excess=_excess,
        shows=_shows,
    ),
)
