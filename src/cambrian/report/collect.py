"""Reads a results directory: each group with its measured valid trials and the names of the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from cambrian.judging import families as judging
from cambrian.judging.families import Family
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.gates.page import NOT_IN_TIME
from cambrian.metrics.payload import Protocol
from cambrian.report import measuring
from cambrian.report.measuring import Task
from cambrian.stacks import catalogue
from cambrian.store.results import Results, TrialResult
from cambrian.study.model import Contestant, Design, Flow, Network, Study, Trial
from cambrian.study.reference import reference_contestant

#: gates whose failure explains an unused link: a program that breaks the contract, fails or ends early
_CAUSES = ("events: ", "trace link: ", "endpoint: ", "premature end: ")
_SATURATION = "saturation: "


@dataclass(frozen=True)
class Record:
    """One trial that ran, valid or not: its identity, its verdict, its trace's hash."""

    id: str
    seed: int
    valid: bool
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    packets_sha256: str

    @property
    def causes(self) -> tuple[str, ...]:
        """The reasons, without an unused link if a program that failed explains it."""
        if not any(reason.startswith(_CAUSES) for reason in self.reasons):
            return self.reasons
        return tuple(reason for reason in self.reasons if not reason.startswith(_SATURATION))


@dataclass(frozen=True, eq=False)  # hashed by identity: caches of costly results use it as their key
class Cell:
    """One group of a study.

    ``names`` are the study's names of the flows' contestants. ``trials`` has only the valid
    trials, in order of seed; ``records`` every trial that ran; ``missing`` the
    identities of those that have not run.
    """

    key: str
    design: Design
    network: Network
    names: tuple[str, ...]
    trials: tuple[TrialMeasures, ...]
    records: tuple[Record, ...]
    missing: tuple[str, ...]
    buffer_bytes: int | None
    #: the page that the flows load, in a study of page loads
    page: str | None = None
    #: name of the line-up, if the study has several
    lineup: str | None = None
    #: trials of a complete seed: one for each order of the flows
    orders: int = 1
    #: the reference in a contestant's place: statements about contestants exclude it
    is_placebo: bool = False
    #: end of the lines over time; equal for all groups that load the same page on this network
    shown_s: float = 0.0

    @property
    def subject(self) -> str:
        """The contestant under test: flow 0's; all contestants for design ``flows``."""
        return " + ".join(self.names) if self.design == "flows" else self.names[0]

    @property
    def reference(self) -> str | None:
        """Flow 1's contestant in a pair."""
        return self.names[1] if self.design in ("versus-reference", "pairwise") else None

    def late_loads(self, flow: int) -> int:
        """How many loads of a flow did not end in the trial's time: invalid trials, and the slowest loads."""
        reasons = (reason for record in self.records for reason in record.reasons)
        return sum(NOT_IN_TIME in reason and f"flow {flow} (" in reason for reason in reasons)

    @property
    def is_noise_floor(self) -> bool:
        """Is this a reference against itself?"""
        return self.design == "versus-reference" and self.subject == self.reference

    @property
    def title(self) -> str:
        """The competing contestants, and the page."""
        return f"{self._meeting} · {self.page}" if self.page else self._meeting

    @property
    def _meeting(self) -> str:
        if self.lineup:
            return self.lineup
        if self.is_noise_floor:
            return f"{self.subject} against itself"
        if self.design == "pairwise":
            return f"{self.names[0]} + {self.names[1]}"
        return f"{self.subject} against {self.reference}" if self.reference else self.subject


@dataclass(frozen=True)
class Collected:
    """The input of a report. ``manifests`` are those of every trial that ran."""

    raw: dict[str, Any]
    study: Study
    cells: tuple[Cell, ...]
    manifests: tuple[dict[str, Any], ...]
    #: contestant → the family that its controller is judged as; contestants without a family are absent
    families: Mapping[str, Family]
    #: the key of the trials, the study and the code (:func:`cambrian.report.evidence.key_of`), if it is known
    made_from: str = ""

    @property
    def design(self) -> Design:
        """The study's design."""
        return self.study.design

    @property
    def networks(self) -> list[Network]:
        """The networks that ran, in the study's order."""
        used = {cell.network.name for cell in self.cells}
        return [network for network in self.study.networks if network.name in used]

    def on(self, network: Network) -> list[Cell]:
        """The groups on one network."""
        return [cell for cell in self.cells if cell.network.name == network.name]

    def alone(self, contestant: str) -> list[Cell]:
        """The groups of a contestant alone, without those that load a page."""
        return [cell for cell in self.cells if cell.names == (contestant,) and not cell.page]

    def kernel(self, contestant: str) -> str:
        """The name of the kernel TCP that a contestant is compared with; empty if it has other settings here.

        The study need not have it. Empty also for a contestant without a family. A study may give kernel TCP
        options, TLS or a receiver and still call it ``tcp cubic``: that is no reference.
        """
        if (family := self.families.get(contestant)) is None:
            return ""
        plain = reference_contestant(family.reference)
        namesakes = (one for one in everybody(self.study) if one.name == plain.name)
        return plain.name if all(_unlabelled(one) == plain for one in namesakes) else ""

    def noise_floor(self, cell: Cell) -> Cell | None:
        """The group that is ``cell``'s reference against itself on the same network."""
        floors = (other for other in self.on(cell.network) if other.is_noise_floor)
        return next((floor for floor in floors if floor.subject == cell.reference), None)


def _unlabelled(one: Contestant) -> Contestant:
    return one.model_copy(update={"label": ""})


def everybody(study: Study) -> Iterator[Contestant]:
    """The contestants that a study names, those of its flows too."""
    yield from study.contestants
    for flow in study.every_flow:
        yield flow.contestant


def collect(results: Results, *, judged: bool = True) -> Collected:
    """Read and measure every trial of a results directory.

    Without ``judged`` there are no estimates of parameters, which take most of the time.

    Raises:
        FileNotFoundError: there is no study.json.
        Damaged: a file cannot be used.
    """
    raw = results.study()
    study = Study.model_validate(raw["study"])
    networks = {network.name: network for network in study.networks}
    groups = [_Group(group, flow_names(group, study), _present(group, results)) for group in raw["groups"]]
    known: dict[str, Family] = {}
    tasks = [task for group in groups for task in _tasks(group, raw, study, known)]
    if not judged:
        tasks = [replace(task, families=()) for task in tasks]
    done = measuring.measure_all(tasks)
    _know_unmeasured(raw, study, groups, known)
    manifests = {result.id: result.manifest for group in groups for result in group.present}
    cells = [_cell(group, networks[group.raw["network"]], results, done, study) for group in groups]
    return Collected(raw, study, tuple(_with_time_axes(cells)), tuple(manifests.values()), known)


@dataclass(frozen=True)
class _Group:
    """A group as study.json has it, its flows' names, and its trials that ran, in order of seed."""

    raw: dict[str, Any]
    names: tuple[str, ...]
    present: tuple[TrialResult, ...]


def _present(group: dict[str, Any], results: Results) -> tuple[TrialResult, ...]:
    found = (results.checked(name) for name in group["trials"] if results.has(name))
    return tuple(sorted(found, key=_seed_and_positions))


def _seed_and_positions(result: TrialResult) -> tuple[int, list[int]]:
    """Sorts by seed; the trials of a seed are in the study's order."""
    trial = result.manifest["trial"]
    return int(trial["seed"]), list(trial.get("positions", ()))


def _tasks(group: _Group, raw: dict[str, Any], study: Study, known: dict[str, Family]) -> Iterator[Task]:
    """The group's valid trials."""
    for result in (one for one in group.present if one.verdict["valid"]):
        flows = Trial.model_validate(result.manifest["trial"]).flows
        yield Task(
            group=group.raw["key"],
            folder=result.folder,
            with_envelope=group.raw["design"] == "versus-reference",
            families=tuple(_families(raw, known, flows, group.names)),
            protocols=tuple(protocol_of(raw, flow.contestant) for flow in flows),
            measured_from_s=study.measured_from_s,
        )


def protocol_of(study: dict[str, Any], contestant: Contestant) -> Protocol | None:
    """QUIC or TCP, from ``study.json``, or else from the stack's manifest; None for an unknown stack."""
    family = judging.recorded(study, contestant)
    if family is not None:
        return cast("Protocol", family.protocol)
    known = catalogue.load().find(contestant.stack)
    return known.manifest.protocol if known else None


def _with_time_axes(cells: Sequence[Cell]) -> Iterator[Cell]:
    for cell in cells:
        shared = (other for other in cells if (other.network, other.page) == (cell.network, cell.page))
        yield replace(
            cell, shown_s=max((trial.shown_s for other in shared for trial in other.trials), default=0.0)
        )


def _cell(
    group: _Group,
    network: Network,
    results: Results,
    done: Mapping[tuple[str, str], TrialMeasures],
    study: Study,
) -> Cell:
    raw = group.raw
    measured = [done[place] for result in group.present if (place := (raw["key"], result.id)) in done]
    last = group.present[-1].manifest if group.present else None
    return Cell(
        key=raw["key"],
        design=raw["design"],
        network=network,
        names=group.names,
        trials=tuple(_with_page_names(one, group, study) for one in measured),
        records=tuple(_record(result) for result in group.present),
        missing=tuple(name for name in raw["trials"] if not results.has(name)),
        buffer_bytes=last["network"]["bottleneck"]["limit_bytes"] if last else None,
        page=raw.get("page"),
        lineup=raw["subject"] if study.lineups else None,
        orders=int(raw.get("orders", 1)),
        is_placebo=bool(raw.get("placebo")),
    )


def _with_page_names(measured: TrialMeasures, group: _Group, study: Study) -> TrialMeasures:
    """The same, with the study's names of pages: pages of equal objects have the same trials."""
    names = [flow.page.name if flow.page else None for flow in lineup(group.raw, study)]
    names = names or [group.raw.get("page")] * len(group.names)
    loads = tuple(replace(load, page=names[load.flow] or load.page) for load in measured.page_loads)
    return replace(measured, page_loads=loads)


def _families(
    raw: dict[str, Any], known: dict[str, Family], flows: Sequence[Flow], names: Sequence[str]
) -> list[Family | None]:
    """The families of a trial's flows; also adds them to ``known`` by contestant."""
    found = [judging.recorded(raw, flow.contestant) for flow in flows]
    known.update({name: family for name, family in zip(names, found, strict=True) if family is not None})
    return found


def _know_unmeasured(
    raw: dict[str, Any], study: Study, groups: Sequence[_Group], known: dict[str, Family]
) -> None:
    """Add the families of contestants without a valid trial to ``known``."""
    listed = list(everybody(study))
    families = [family for one in listed if (family := judging.recorded(raw, one)) is not None]
    # a study does not list the references of its contestants
    references = [reference_contestant(family.reference) for family in families]
    for one in (*listed, *references):
        if (family := judging.recorded(raw, one)) is not None:
            known.setdefault(one.name, family)
    for group in groups:
        if group.raw.get("placebo") and (family := known.get(group.names[1])) is not None:
            known.setdefault(group.names[0], family)


def lineup(group: dict[str, Any], study: Study) -> Sequence[Flow]:
    """The flows of a group of the design ``flows``; empty for other designs. ``group`` is from study.json."""
    if group["design"] != "flows":
        return ()
    return {one.name: one.flows for one in study.lineups}.get(group["subject"], study.flows)


def flow_names(group: dict[str, Any], study: Study) -> tuple[str, ...]:
    """The names of a group's contestants, flow by flow. ``group`` is from study.json."""
    if flows := lineup(group, study):
        return tuple(flow.contestant.name for flow in flows)
    pair = (group["subject"], group["reference"])
    return tuple(str(name) for name in pair if name is not None)


def _record(result: TrialResult) -> Record:
    verdict = result.verdict
    return Record(
        id=result.id,
        seed=int(result.manifest["trial"]["seed"]),
        valid=bool(verdict["valid"]),
        reasons=tuple(verdict["reasons"]),
        notes=tuple(verdict["notes"]),
        packets_sha256=result.manifest["packets_sha256"],
    )
