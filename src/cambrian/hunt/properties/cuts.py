"""One congestion event, one cut: a burst of losses in a round trip is one event, and so is a lone loss."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

import numpy as np

from cambrian.hunt.properties import Property, bounded
from cambrian.hunt.situation import Situation
from cambrian.judging.families import family_of
from cambrian.measure import measuring
from cambrian.measure.figures import Figures
from cambrian.probes import lone_losses, outages
from cambrian.probes.figures import NoFigure
from cambrian.probes.probed_flow import ProbedFlow

#: in a smaller flight a single packet is as much as a cut
_FEWEST_PACKETS = 20
_SOURCE = "RFC 9002, section 7.3.2; RFC 5681, section 3.2; RFC 9438, section 4.6"


def _shows_cuts(one: Situation) -> bool:
    """Is its flight large, and disturbed by what it names alone?"""
    disturbed = one.loss_percent or one.jitter_ms or one.reorder_percent
    return one.is_alone and not disturbed and one.pipe_packets >= _FEWEST_PACKETS


def _of(figure: Callable[[ProbedFlow], float | None]) -> Callable[[Figures, Situation], float | None]:
    def value(one: Figures, situation: Situation) -> float | None:
        del situation
        flows = one.measures.trial.flows
        families = [family_of(flow.contestant.stack, flow.contestant.cca) for flow in flows]
        probed = measuring.probed_flow(one.result, one.measures.trial, families)
        return None if probed is None else figure(probed)

    return value


def _kept_percent(flow: ProbedFlow) -> float | None:
    found = [one.kept for one in outages.bursts(flow) if np.isfinite(one.kept)]
    return 100 * fmean(found) if found else None


def _answered_percent(flow: ProbedFlow) -> float | None:
    found = lone_losses.answered_percent(flow)
    return None if isinstance(found, NoFigure) else found.value


def _one_cut(family: str, least: float) -> Property:
    return bounded(
        f"one-cut-{family.lower()}",
        says=f"After a burst of losses in one round trip {family} keeps {{least:g}} % of its flight or more.",
        source=_SOURCE,
        applies=lambda one: (
            _shows_cuts(one) and one.event == "burst" and one.later_event == "none" and one.buffer_bdp >= 0.5
        ),
        figure=_of(_kept_percent),
        least=least,
        shows="after the burst it keeps {value:.0f} % of its flight",
        families=(family.lower(),),
    )


PROPERTIES = (
    # two cuts leave CUBIC 49 % and Reno 25 %
    _one_cut("CUBIC", 55.0),
    _one_cut("Reno", 35.0),
    bounded(
        "answers-losses",
        says="Within three round trips of at least {least:g} % of lone losses, many apart, the flight falls.",
        source=_SOURCE,
        applies=lambda one: _shows_cuts(one) and one.event == "none" and bool(one.loss_every_packets),
        figure=_of(_answered_percent),
        least=70.0,
        shows="its flight falls within three round trips of {value:.0f} % of lone losses",
        families=("cubic", "reno"),
    ),
)
