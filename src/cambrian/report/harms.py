"""What each contestant does to each other one's service, beside what the victim does to itself."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from cambrian.metrics.columns import FloatArray
from cambrian.metrics.harm import harm
from cambrian.report.collect import Cell, Collected
from cambrian.report.flow_measures import FlowMeasures
from cambrian.stats import joint
from cambrian.stats.compare import Comparison, welch
from cambrian.stats.interval import Interval
from cambrian.stats.joint import Arm

#: fewer trials than this in an arm, and no test is made
FEWEST_TRIALS = 3


@dataclass(frozen=True)
class Service:
    """A figure of a flow's service: its name, its field, and which way is better."""

    name: str
    field: str
    more_is_better: bool


SERVICES = (
    Service("throughput, Mbps", "throughput_mbps", more_is_better=True),
    Service("delay p95, ms", "delay_p95_ms", more_is_better=False),
    Service("queue loss, %", "interval_queue_loss_percent", more_is_better=False),
)


@dataclass(frozen=True)
class Harm:
    """What ``by`` does to ``victim``'s ``service`` on one network.

    Each arm maps a seed to the victim's figure there: ``alone``, ``with_own`` (against
    itself: mean of the two flows), ``with_other``. ``harm`` and ``own_harm`` are against
    ``alone``, None without such trials. ``excess`` takes ``with_own`` for the baseline instead:
    above 0 exactly where harm is above own harm. ``test`` compares the two competing arms
    (Welch, other minus own; None with too few trials). ``by`` may be the victim itself: then
    ``harm`` is ``own_harm``, and there is no excess and no test.
    """

    network: str
    victim: str
    by: str
    service: Service
    alone: Arm
    with_own: Arm
    with_other: Arm
    harm: Interval | None
    own_harm: Interval | None
    excess: Interval | None
    test: Comparison | None


def harms(collected: Collected) -> list[Harm]:
    """Every victim and competitor with a baseline, for each service; network by network.

    Of a ``versus-reference`` study the references are the victims: contestants are not run
    against themselves there.
    """
    return [
        one
        for network in collected.networks
        for service in SERVICES
        for one in _on([cell for cell in collected.on(network) if cell.page is None], service)
    ]


def _on(cells: Sequence[Cell], service: Service) -> Iterator[Harm]:
    alone = {cell.subject: _arm(cell, service, [0]) for cell in cells if cell.design == "solo"}
    pairs = [cell for cell in cells if cell.design in ("pairwise", "versus-reference")]
    own = {cell.subject: _arm(cell, service, [0, 1]) for cell in pairs if cell.subject == cell.reference}
    for cell in pairs:
        for mine in (0,) if cell.subject == cell.reference else (0, 1):
            victim, by = cell.names[mine], cell.names[1 - mine]
            baselines = alone.get(victim, {}), own.get(victim, {})
            other = own[victim] if victim == by else _arm(cell, service, [mine])
            if other and any(baselines):
                yield _harm(cell.network.name, victim, by, service, *baselines, other)


def _harm(
    network: str, victim: str, by: str, service: Service, alone: Arm, with_own: Arm, with_other: Arm
) -> Harm:
    differs = victim != by
    testable = differs and min(len(with_own), len(with_other)) >= FEWEST_TRIALS
    return Harm(
        network=network,
        victim=victim,
        by=by,
        service=service,
        alone=alone,
        with_own=with_own,
        with_other=with_other,
        harm=_of(alone, with_other, service),
        own_harm=_of(alone, with_own, service),
        excess=_of(with_own, with_other, service) if differs else None,
        test=welch(list(with_other.values()), list(with_own.values())) if testable else None,
    )


def _of(before: Arm, after: Arm, service: Service) -> Interval | None:
    """Harm of the arms' means, with its interval; None without trials on either side."""
    if not before or not after:
        return None
    return joint.of_means([before, after], partial(_figure, service.more_is_better))


def _figure(more_is_better: bool, arms: Sequence[FloatArray]) -> FloatArray:
    return harm(arms[0], arms[1], more_is_better=more_is_better)


def _arm(cell: Cell, service: Service, flows: Sequence[int]) -> Mapping[int, float]:
    """Seed → the mean of the flows' figures; a trial in which one has none is left out."""
    found = {}
    for trial in cell.trials:
        values = [_value(trial.flows[flow], service) for flow in flows]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            found[trial.trial.seed] = sum(known) / len(known)
    return found


def _value(flow: FlowMeasures, service: Service) -> float | None:
    value: float | None = getattr(flow, service.field)
    return value


def families(found: Sequence[Harm]) -> list[list[Harm]]:
    """What is corrected together: the tests of one service on one network."""
    ordered = sorted(found, key=_family)
    return [list(group) for _, group in itertools.groupby(ordered, key=_family)]


def _family(one: Harm) -> tuple[str, str]:
    return one.network, one.service.name
