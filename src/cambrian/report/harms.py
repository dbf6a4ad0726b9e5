"""Harm of each contestant to each other one's service, compared with the harm of the victim's own kind."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from cambrian.measure.flow_window import FlowMeasures
from cambrian.metrics.columns import FloatArray
from cambrian.metrics.harm import harm
from cambrian.report import blocks
from cambrian.report.blocks import Places
from cambrian.report.collect import Cell, Collected
from cambrian.stats import jackknife, seeds, states
from cambrian.stats.compare import Comparison, compare, p_with_chance, p_with_scatter, trials_for_scatter
from cambrian.stats.interval import Interval
from cambrian.stats.jackknife import Arm
from cambrian.stats.states import Margin


@dataclass(frozen=True)
class Service:
    """A figure of a flow's service: its name, its field, and which direction is better.

    ``is_divided``: what one flow of a trial gains, the others lose, so chance may decide who has it.
    ``negligible`` is a difference in the figure's own unit that harms nobody, even if its ratio is
    large: a loss of 0.002 % is twice a loss of 0.001 %.
    """

    name: str
    field: str
    more_is_better: bool
    is_divided: bool = False
    negligible: Margin | None = None


SERVICES = (
    Service("throughput, Mbps", "throughput_mbps", more_is_better=True, is_divided=True),
    Service("delay p95, ms", "delay_p95_ms", more_is_better=False, negligible=states.DELAY_MS),
    Service(
        "queue loss, %",
        "interval_queue_loss_percent",
        more_is_better=False,
        negligible=states.LOSS_PERCENT,
    ),
)


@dataclass(frozen=True)
class Harm:
    """Harm of ``by`` to ``victim``'s ``service`` on one network.

    Each arm maps a seed to the victim's figure: ``alone``, ``with_own`` (the victim in the same position,
    against a flow of its own kind), ``with_other``. ``harm`` and ``own_harm`` use the baseline ``alone``;
    they are None without such trials. ``difference`` is ``with_other`` minus ``with_own``, in the
    service's unit. ``excess`` uses the baseline ``with_own``: it is above 0 exactly where harm is above own
    harm. ``p`` tests for no excess; None with too few seeds. ``test``
    compares the two competing arms (other minus own). ``by`` may be the victim itself: then ``harm`` is
    ``own_harm``, and there is no difference, no excess and no test.

    A harm is 1 minus a ratio, and its interval and its test are by factors of this ratio. If one arm has
    fewer than two seeds above 0, the ratio says nothing of how much: there is no interval, and ``p`` is
    that of ``test``, but no smaller than :func:`_p` allows. ``trial_sd`` is how much the victim's figure in
    one trial against its own kind differs between seeds (None for a service that is not divided), and
    ``trials`` how many trials ``with_other`` is made of. Both limit ``p``, see
    :func:`cambrian.stats.compare.p_with_scatter`.
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
    difference: Interval | None
    excess: Interval | None
    p: float | None
    test: Comparison | None
    trial_sd: float | None
    trials: int

    @property
    def judged(self) -> tuple[Interval | None, Margin | None]:
        """What the verdict comes from, with its margin: ``excess``, or ``difference`` without a ratio."""
        if _has_ratio(self.with_own, self.with_other):
            return self.excess, states.HARM
        return self.difference, self.service.negligible

    def seeds_for_p(self, level: float) -> int:
        """How many seeds each side still needs before ``p`` can be as small as ``level`` (above 0)."""
        needed = 0
        if self.trial_sd and self.difference and self.difference.estimate:
            trials = trials_for_scatter(level, self.difference.estimate, self.trial_sd)
            have = len(self.with_other)
            needed = math.ceil(trials * have / self.trials) - have
        if not _has_ratio(self.with_own, self.with_other):
            have = len(self.with_own) + len(self.with_other)
            needed = max(needed, math.ceil((1 - have - math.log2(level)) / 2))
        return max(needed, 0)


def harms(collected: Collected) -> list[Harm]:
    """Every victim and competitor with a baseline, for each service; network by network.

    In a ``versus-reference`` study only references are victims, because contestants do not run against
    themselves.
    """
    return [
        one
        for network in collected.networks
        for service in SERVICES
        for one in _on([cell for cell in collected.on(network) if cell.page is None], service)
    ]


def _on(cells: Sequence[Cell], service: Service) -> Iterator[Harm]:
    alone = {
        cell.subject: blocks.by_seed(cell, lambda trial: _value(trial.flows[0], service))
        for cell in cells
        if cell.design == "solo"
    }
    pairs = [cell for cell in cells if cell.design in ("pairwise", "versus-reference")]
    itself = {cell.subject: cell for cell in pairs if cell.subject == cell.reference}
    own = {name: _places(cell, service, (0, 1)) for name, cell in itself.items()}
    # one flow of each trial: the mean of both flows' figures in one position differs less than one trial's
    divided = itself if service.is_divided else {}
    spreads = {name: blocks.scatter(_places(cell, service, (0,))) for name, cell in divided.items()}
    for cell in pairs:
        for mine in (0,) if cell.subject == cell.reference else (0, 1):
            victim, by = cell.names[mine], cell.names[1 - mine]
            baseline = own.get(victim, {})
            places = baseline if victim == by else _places(cell, service, (mine,))
            if victim == by:
                other = with_own = _arm(baseline)
            else:
                other, with_own = _arm(places), _matched(baseline, places)
            if other and (alone.get(victim) or with_own):
                arms = alone.get(victim, {}), with_own, other
                trials = sum(len(values) for values in places.values())
                spread = spreads.get(victim)
                yield of_arms(cell.network.name, victim, by, service, *arms, trial_sd=spread, trials=trials)


def _places(cell: Cell, service: Service, flows: Sequence[int]) -> Places:
    return blocks.by_position(cell, lambda trial, flow: _value(trial.flows[flow], service), flows)


def _arm(places: Places) -> dict[int, float]:
    """Seed → mean over its positions."""
    means = ((seed, sum(values) / len(values)) for (seed, _), values in places.items())
    return seeds.by_seed(means)


def _matched(baseline: Places, places: Places) -> dict[int, float]:
    """The baseline's figures in the positions of ``places``; seeds that lack a position are left out.

    A seed that is not in ``places`` must have every position that ``places`` has.
    """
    wanted: dict[int, set[int]] = {}
    for seed, place in places:
        wanted.setdefault(seed, set()).add(place)
    usual = set.union(*wanted.values()) if wanted else set()
    kept = {
        (seed, place): values
        for (seed, place), values in baseline.items()
        if place in wanted.get(seed, usual)
    }
    have = Counter(seed for seed, _ in kept)
    return _arm(
        {key: values for key, values in kept.items() if have[key[0]] == len(wanted.get(key[0], usual))}
    )


def of_arms(
    network: str,
    victim: str,
    by: str,
    service: Service,
    alone: Arm,
    with_own: Arm,
    with_other: Arm,
    *,
    trial_sd: float | None = None,
    trials: int = 0,
) -> Harm:
    """The harm of these arms; see :class:`Harm`."""
    excess = _replicates(with_own, with_other, service) if victim != by else None
    test = None if excess is None else compare(with_other, with_own)
    difference = None if excess is None else _difference(with_own, with_other)
    p = None if excess is None or test is None else _p(excess, with_own, with_other, test)
    return Harm(
        network=network,
        victim=victim,
        by=by,
        service=service,
        alone=alone,
        with_own=with_own,
        with_other=with_other,
        harm=_interval(_replicates(alone, with_other, service), alone, with_other),
        own_harm=_interval(_replicates(alone, with_own, service), alone, with_own),
        difference=difference,
        excess=_interval(excess, with_own, with_other),
        p=p if difference is None else p_with_scatter(p, difference.estimate, trial_sd, trials),
        test=test,
        trial_sd=trial_sd,
        trials=trials,
    )


def _replicates(before: Arm, after: Arm, service: Service) -> FloatArray | None:
    """Harm of the arms' means, with all seeds, then without each; None if an arm is empty."""
    if not before or not after:
        return None
    return jackknife.replicates([before, after], partial(_figure, service.more_is_better))


def _difference(before: Arm, after: Arm) -> Interval | None:
    found = jackknife.replicates([before, after], lambda arms: arms[1] - arms[0])
    return jackknife.interval(found, jackknife.fewest((before, after)))


def _has_ratio(before: Arm, after: Arm) -> bool:
    """Has each arm two seeds above 0, so that its mean is above 0 without any one of its seeds?"""
    return all(sum(value > 0 for value in arm.values()) > 1 for arm in (before, after))


def _interval(found: FloatArray | None, before: Arm, after: Arm) -> Interval | None:
    if found is None:
        return None
    seeds = jackknife.fewest((before, after))
    # a spread that is tiny compared with 1, the largest harm that there is, is rounding
    ratio = jackknife.interval(1 - found, seeds, "factor", size=1.0)
    estimate = float(found[0])
    if not _has_ratio(before, after):
        return replace(ratio, estimate=estimate, low=math.nan, high=math.nan)
    # 1 − (1 − harm) rounds: a small harm that hardly varies would lie outside its own interval
    if ratio.low == ratio.high:
        return replace(ratio, estimate=estimate, low=estimate, high=estimate)
    return replace(
        ratio, estimate=estimate, low=min(1 - ratio.high, estimate), high=max(1 - ratio.low, estimate)
    )


def _p(excess: FloatArray, own: Arm, other: Arm, test: Comparison) -> float | None:
    """Of no harm beyond the victim's own kind."""
    if _has_ratio(own, other):
        return jackknife.p_value(1 - excess, jackknife.fewest((own, other)), 1.0, "factor", size=1.0)
    # a figure that is 0 in every second seed by chance is 0 in all of one arm and in none of the other with
    # this probability, and then hardly varies in either
    return p_with_chance(test.p, len(own) + len(other))


def _figure(more_is_better: bool, arms: Sequence[FloatArray]) -> FloatArray:
    return harm(arms[0], arms[1], more_is_better=more_is_better)


def _value(flow: FlowMeasures, service: Service) -> float | None:
    value: float | None = flow[service.field]
    return value


def families(found: Sequence[Harm]) -> list[list[Harm]]:
    """The tests that are corrected together: those of one service."""
    ordered = sorted(found, key=_family)
    return [list(group) for _, group in itertools.groupby(ordered, key=_family)]


def _family(one: Harm) -> str:
    return one.service.name
