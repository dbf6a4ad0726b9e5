"""Each contestant's probes: its readings beside those of kernel TCP in its place on the same network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cambrian.probes import figures, judge, table
from cambrian.probes.figures import Figure, Unseen
from cambrian.probes.judge import Finding
from cambrian.report.collect import Cell, Collected
from cambrian.stats.states import State
from cambrian.study.model import Contestant

#: the stacks whose controllers are the reference: the kernel's, for bytes and for pages
_KERNELS = ("tcp", "tcp-h2")
_STATES: tuple[State, ...] = ("different", "inconclusive", "equivalent")


@dataclass(frozen=True)
class Probed:
    """One contestant's finding."""

    contestant: str
    finding: Finding


def findings(collected: Collected) -> list[Probed]:
    """Every probe of every contestant on the networks that show it, in the study's order."""
    return [one for cell in collected.cells for one in _of(cell, collected)]


def _of(cell: Cell, collected: Collected) -> Iterator[Probed]:
    contestant = cell.names[0]
    family = collected.families.get(contestant)
    if family is None or not any(trial.probes for trial in cell.trials):
        return
    kernel = _kernel(cell, collected, family.reference)
    if kernel is cell:
        return
    cca = cell.trials[0].trial.flows[0].contestant.cca
    for probe in table.probes():
        if mine := _readings(cell, probe.name):
            its = _readings(kernel, probe.name) if kernel is not None else None
            found = judge.judge(probe, cell.network, family.reference, cca, mine, its)
            yield Probed(contestant, found)


def _kernel(cell: Cell, collected: Collected, family: str) -> Cell | None:
    """The group with kernel TCP in the contestant's place, without options, TLS or slow receiver."""
    rivals = [flow.contestant for flow in cell.trials[0].trial.flows[1:]]
    for other in collected.on(cell.network):
        if not other.trials or other.page != cell.page:
            continue
        first, *others = (flow.contestant for flow in other.trials[0].trial.flows)
        plain = [Contestant(stack=stack, cca=family) for stack in _KERNELS]
        if first.model_copy(update={"label": ""}) in plain and others == rivals:
            return other
    return None


def _readings(cell: Cell, probe: str) -> dict[int, Figure | Unseen]:
    """Seed → what its trials show of one probe; of several orders of the flows their mean."""
    found: dict[int, list[Figure | Unseen]] = {}
    for one in cell.trials:
        if probe in one.probes:
            found.setdefault(one.trial.seed, []).append(one.probes[probe])
    return {seed: figures.mean(here) for seed, here in found.items()}


@dataclass(frozen=True)
class Behaviour:
    """What all probes say of one contestant together: how many there are in each state.

    ``different``, ``inconclusive``, ``equivalent``: the probes in each state; those that compare nothing are
    in none of them.
    """

    different: tuple[Finding, ...]
    inconclusive: tuple[Finding, ...]
    equivalent: tuple[Finding, ...]

    @property
    def counts(self) -> str:
        """How many probes are in each state, in words."""
        counts = {
            "different": self.different,
            "equivalent": self.equivalent,
            "inconclusive": self.inconclusive,
        }
        said = [f"{len(found)} {state}" for state, found in counts.items() if found]
        return ", ".join(said) if said else "nothing that could be compared"


def behaviour(collected: Collected) -> dict[str, Behaviour]:
    """Contestant → what its probes say; without those that no probe was asked of."""
    found: dict[str, list[Finding]] = {}
    for one in findings(collected):
        found.setdefault(one.contestant, []).append(one.finding)
    return {
        name: Behaviour(*(tuple(one for one in here if one.state == state) for state in _STATES))
        for name, here in found.items()
    }
