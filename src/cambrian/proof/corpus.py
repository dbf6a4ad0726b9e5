"""``cambrian corpus``: does the judge find the planted faults, and accuse no clean controller?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from cambrian import parallel
from cambrian.judging import contestants, families
from cambrian.judging.contestants import Judged
from cambrian.judging.findings import Finding, value_text
from cambrian.judging.flow_traces import estimates
from cambrian.probes.judge import repeats
from cambrian.proof import floor
from cambrian.proof.faults import Fault, Key, of_lab
from cambrian.proof.floor import Behaviour
from cambrian.proof.groups import Group, differ, groups_of, without_trial
from cambrian.store.results import Results, TrialResult
from cambrian.study.model import Trial

#: the built-in study that plants the faults
STUDY = "fault-corpus"
State = Literal["named", "missed", "not exercised"]
#: shares that the judge must reach: of the faults, each on its network, those named; of the clean
#: controllers, those not accused on any network
NAMED_SHARE, QUIET_SHARE = 0.9, 0.95


@dataclass(frozen=True)
class FaultCell:
    """One fault on one network. ``text``: the measured value, or why there is none.

    ``outside``: what leaves the clean controller's noise floor (``envelope``, ``start``); None with too few
    trials for a noise floor.
    """

    fault: Fault
    network: str
    state: State
    text: str
    outside: tuple[str, ...] | None = None


@dataclass(frozen=True)
class CleanCell:
    """One clean controller on one network. ``accused``: the findings that accuse it wrongly."""

    contestant: str
    network: str
    checked: int
    accused: tuple[Finding, ...]


@dataclass(frozen=True)
class Score:
    """The whole corpus. ``absent``: the groups without a valid trial, of which nothing is known."""

    faults: tuple[FaultCell, ...]
    clean: tuple[CleanCell, ...]
    absent: tuple[str, ...] = ()

    @property
    def exercised(self) -> list[FaultCell]:
        """The cells whose fault changes a packet."""
        return [cell for cell in self.faults if cell.state != "not exercised"]

    @property
    def named(self) -> int:
        """Number of cells whose fault is named with the true value in the interval."""
        return sum(cell.state == "named" for cell in self.exercised)

    @property
    def moved(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """(Preset, network) of the exercised faults with a noise floor → what leaves it."""
        return {
            (cell.fault.preset, cell.network): cell.outside
            for cell in self.exercised
            if cell.outside is not None
        }

    @property
    def quiet(self) -> int:
        """Number of cells of clean controllers without a false accusation."""
        return sum(not cell.accused for cell in self.clean)

    @property
    def accused(self) -> set[str]:
        """The clean controllers that are accused on at least one network."""
        return {cell.contestant for cell in self.clean if cell.accused}

    @property
    def passes(self) -> bool:
        """Are both shares reached, of all groups?"""
        enough = self.named >= NAMED_SHARE * len(self.exercised)
        controllers = {cell.contestant for cell in self.clean}
        quiet = len(controllers - self.accused) >= QUIET_SHARE * len(controllers)
        return bool(self.exercised and self.clean) and enough and quiet and not self.absent


def score(results: Results, key: Key) -> Score:
    """Judge every group of a ``fault-corpus`` run by ``key``."""
    groups = {(group.network, group.contestant): group for group in groups_of(results)}
    every = parallel.mapped(_read, list(groups.values()), what="groups judged")
    judged = _settled({place: one for place, (one, _) in zip(groups, every, strict=True)})
    behaviour = {place: one for place, (_, one) in zip(groups, every, strict=True)}
    networks = list(dict.fromkeys(network for network, _ in groups))
    faults = [
        _fault_cell(fault, network, groups, judged, behaviour)
        for fault in key.fault
        for network in networks
        if (network, of_lab(fault.preset)) in groups
    ]
    clean = [
        CleanCell(
            one.contestant,
            network,
            len(found.findings),
            tuple(finding for finding in found.findings if one.is_accused_by(finding)),
        )
        for one in key.clean
        for network in networks
        if (found := judged.get((network, one.contestant))) is not None
    ]
    return Score(tuple(faults), tuple(clean), without_trial(results))


def _read(group: Group) -> tuple[Judged, dict[int, Behaviour]]:
    """The judgement of a group's parameters, and the behaviour in each of its trials by seed."""
    behaviour = {
        trial.manifest["trial"]["seed"]: floor.behaviour(TrialResult(trial.folder)) for trial in group.trials
    }
    return _judged(group), behaviour


def _settled(judged: Mapping[tuple[str, str], Judged]) -> dict[tuple[str, str], Judged]:
    """(Network, contestant) → its findings, with each contestant's networks settled by each other."""
    found: dict[tuple[str, str], Judged] = {}
    for contestant in dict.fromkeys(name for _, name in judged):
        here = {network: one for (network, name), one in judged.items() if name == contestant}
        found |= {(network, contestant): one for network, one in contestants.combined(here).items()}
    return found


def _judged(group: Group) -> Judged:
    trial = Trial.model_validate(group.trials[0].manifest["trial"])
    flow = trial.flows[0].contestant
    family = families.family_of(flow.stack, flow.cca)
    # a new handle for each trial frees its packets afterwards
    trials = [estimates(TrialResult(one.folder), [family])[0] for one in group.trials]
    lone = [len(trial.flows) == 1 and repeats(trial.network)] * len(trials)
    reference = family.reference if family else ""
    return contestants.judge(group.network, reference, trials, trial.network.path, lone)


def _fault_cell(
    fault: Fault,
    network: str,
    groups: dict[tuple[str, str], Group],
    judged: dict[tuple[str, str], Judged],
    behaviour: dict[tuple[str, str], dict[int, Behaviour]],
) -> FaultCell:
    with_it, without = (groups.get((network, of_lab(name))) for name in (fault.isolated, fault.clean))
    if with_it is not None and without is not None and not differ(with_it, without):
        return FaultCell(fault, network, "not exercised", "the same packets as without it")
    mine, clean = (behaviour.get((network, of_lab(name)), {}) for name in (fault.preset, fault.clean))
    outside = floor.outside(mine, clean)
    found = judged[network, of_lab(fault.preset)]
    finding = next((one for one in found.findings if one.key == fault.parameter), None)
    if finding is None:
        return FaultCell(fault, network, "missed", found.missing.get(fault.parameter, "no estimate"), outside)
    state: State = "named" if fault.is_named_by(finding) else "missed"
    return FaultCell(fault, network, state, f"{value_text(finding.measured)} ({finding.status})", outside)
