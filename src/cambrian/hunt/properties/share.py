"""A flow neither starves kernel TCP with the same algorithm, nor is starved by it."""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.hunt.properties import Property
from cambrian.measure.figures import Figures

#: smallest share of either flow, in percent
LEAST_PERCENT = 10.0


def _share(trials: Sequence[Figures]) -> float:
    return float(trials[0].value("share_percent") or 0.0)


def _smaller(trials: Sequence[Figures]) -> float:
    return min(_share(trials), 100 - _share(trials))


PROPERTIES = (
    Property(
        name="shares",
        says=f"Beside kernel TCP with the same algorithm each has at least {LEAST_PERCENT:g} % of the link.",
        source="RFC 9743, section 5.2.1",
        applies=lambda situation: situation.is_lossless and situation.change == "none",
        excess=lambda trials, _: (LEAST_PERCENT - _smaller(trials)) / LEAST_PERCENT,
        shows=lambda trials, _: f"it has {_share(trials):.0f} % of the throughput",
        rival=True,
    ),
)
