"""Each contestant's probes, compared with those of kernel TCP in its place on the same network."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from cambrian.judging import references
from cambrian.probes import figures, judge, table
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.judge import Finding
from cambrian.report import judged, limits
from cambrian.report.collect import Cell, Collected
from cambrian.stats.states import State
from cambrian.study.model import Contestant

#: the reference's stacks: the kernel's, for bytes and for pages
_KERNELS = ("tcp", "tcp-h2")
_STATES: tuple[State, ...] = ("different", "inconclusive", "equivalent")


@dataclass(frozen=True)
class Probed:
    """A finding about one contestant, in the trials of one ``group``."""

    contestant: str
    group: str
    finding: Finding


def findings(collected: Collected) -> list[Probed]:
    """Every probe of every contestant on the networks that show it, in the study's order."""
    parameters = judged.by_network(collected)
    later = {name for name, _ in parameters if judged.family(parameters, name) == references.LATER_BBR}
    return [one for cell in collected.cells for one in _cell_findings(cell, collected, later)]


def _cell_findings(cell: Cell, collected: Collected, later: Collection[str]) -> Iterator[Probed]:
    """``later``: contestants whose packets show a BBR of a later generation than the kernel's."""
    contestant = cell.names[0]
    family = collected.families.get(contestant)
    if family is None or not any(trial.probes for trial in cell.trials):
        return
    kernel = _kernel(cell, collected, family.reference)
    if kernel is cell:
        return
    cca = cell.trials[0].trial.flows[0].contestant.cca
    limit = "" if cell.page else limits.withheld(collected, contestant, cell.network.name)
    is_later = contestant in later or judge.is_later_bbr(cca)
    for probe in table.probes():
        if mine := _readings(cell, probe.name):
            its = _readings(kernel, probe.name) if kernel is not None else None
            finding = judge.judge(probe, cell.network, family.reference, is_later, mine, its)
            if limit and finding.state is not None:
                finding = replace(finding, state=None, why=limit, more=None, settles_as=None)
            yield Probed(contestant, cell.key, finding)


def _kernel(cell: Cell, collected: Collected, family: str) -> Cell | None:
    """The group with kernel TCP in the contestant's place, without options, TLS and slow receiver."""
    plain = [Contestant(stack=stack, cca=family) for stack in _KERNELS]
    _, *rivals = mine = _players(cell)
    for other in collected.on(cell.network):
        if not other.trials or other.page != cell.page:
            continue
        (first, rtt_ms), *others = _players(other)
        is_plain = first.model_copy(update={"label": ""}) in plain
        if is_plain and rtt_ms == mine[0][1] and others == rivals:
            return other
    return None


def _players(cell: Cell) -> list[tuple[Contestant, float]]:
    """Each flow's contestant, and its round trip without queueing."""
    flows = cell.trials[0].trial.flows
    return [(flow.contestant, flow.base_rtt_ms(cell.network)) for flow in flows]


def _readings(cell: Cell, probe: str) -> dict[int, Figure | NoFigure]:
    """Seed → reading of one probe, the mean over the orders of the flows."""
    readings: dict[int, list[Figure | NoFigure]] = {}
    for trial in cell.trials:
        if probe in trial.probes:
            readings.setdefault(trial.trial.seed, []).append(trial.probes[probe])
    return {seed: figures.mean(here) for seed, here in readings.items()}


@dataclass(frozen=True)
class Behaviour:
    """The findings of all probes of one contestant, by state; probes without a comparison are left out."""

    different: tuple[Finding, ...]
    inconclusive: tuple[Finding, ...]
    equivalent: tuple[Finding, ...]

    @property
    def counts(self) -> str:
        """The number of probes in each state, in words."""
        bound = [one for one in self.equivalent if one.probe.compare == "bound"]
        by_state = {
            "different": self.different,
            "equivalent": [one for one in self.equivalent if one not in bound],
            # not compared with the reference
            "within an absolute bound": bound,
            "inconclusive": self.inconclusive,
        }
        counts = [f"{len(found)} {state}" for state, found in by_state.items() if found]
        return ", ".join(counts) if counts else "no probe could be compared"


def behaviour(collected: Collected) -> dict[str, Behaviour]:
    """Contestant → its behaviour, for the contestants with probes."""
    found: dict[str, list[Finding]] = {}
    for one in findings(collected):
        found.setdefault(one.contestant, []).append(one.finding)
    return {
        name: Behaviour(*(tuple(one for one in here if one.state == state) for state in _STATES))
        for name, here in found.items()
    }
