"""One side of a comparison: a results directory, its snapshot, and what the snapshot's names mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cambrian.gate import snapshot
from cambrian.gate.snapshot import Snapshot, Subject
from cambrian.report.collect import everybody, flow_names, lineup
from cambrian.store.results import Results
from cambrian.study.model import Study


@dataclass(frozen=True)
class Group:
    """A group of trials: where they ran, who was in them, and with which kinds of flows.

    ``is_placebo``: the reference in a contestant's place; it is no contestant of its own.
    """

    key: str
    network: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    is_placebo: bool


@dataclass(frozen=True)
class Side:
    """A results directory. ``subjects``: the name of a place in the snapshot → what the place is about."""

    folder: Path
    study: Study
    snapshot: Snapshot
    groups: tuple[Group, ...]
    subjects: Mapping[str, Subject]

    @property
    def label(self) -> str | None:
        """The contestant that the snapshot is about; None for all."""
        chosen = self.snapshot.contestant
        if chosen is None or chosen in {one.name for one in everybody(self.study)}:
            return chosen
        return chosen.replace("/", " ")

    @property
    def players(self) -> dict[str, tuple[str, str]]:
        """Contestant → its stack and CCA; the contestants under test come first."""
        here = {name for group in self.groups if not group.is_placebo for name in group.names}
        found = {one.name: (one.stack, one.cca) for one in everybody(self.study) if one.name in here}
        # the kernel's own controllers are references, which no study lists
        others = sorted(here - found.keys())
        known = found | {name: (name.partition(" ")[0], name.partition(" ")[2]) for name in others}
        return {name: one for name, one in known.items() if self.label in (None, name)}

    @property
    def networks(self) -> list[str]:
        """The networks of the groups, in the study's order."""
        return list(dict.fromkeys(group.network for group in self.groups))

    def group(self, trial: str) -> Group | None:
        """The group of a trial of the snapshot; None if the side has no such group."""
        key = snapshot.group_of(trial)
        return next((group for group in self.groups if group.key == key), None)

    def renamed(self, contestant: str) -> Side:
        """This side with its trials and groups named as those of another contestant."""
        old = self.snapshot.contestant
        assert old is not None
        groups = (replace(one, key=snapshot.renamed_trial(one.key, old, contestant)) for one in self.groups)
        return replace(self, snapshot=snapshot.renamed(self.snapshot, contestant), groups=tuple(groups))


def read(folder: Path, contestant: str | None = None) -> Side:
    """The side of a results directory, with all contestants or one ``STACK/CCA``.

    Raises:
        FileNotFoundError, Damaged: the folder holds no results, or a file cannot be used.
        StudyError: there is no trial of the contestant.
    """
    raw = Results(folder).study()
    study = Study.model_validate(raw["study"])
    taken = snapshot.take({"": folder}, contestant)
    groups = tuple(_group(one, study) for one in raw["groups"])
    side = Side(folder, study, taken, groups, {})
    names = snapshot.names(contestant, folder)
    rivals = _rivals(groups, side.label)
    named = {
        one.place(
            "", alone=names is not None and names.place_without(one.contestant), rivals=rivals[one.network]
        ): one
        for group in groups
        for one in _subjects(group, groups)
        if names is None or one.contestant in names.found
    }
    return replace(side, subjects=named)


def _rivals(groups: Sequence[Group], label: str | None) -> Counter[str]:
    """Network → how many rivals the contestant ``label`` has there; no rival counts as one."""
    met = {
        (group.network, _against(group, number))
        for group in groups
        for number, name in enumerate(group.names)
        if name == label and not group.is_placebo
    }
    return Counter(network for network, _ in met)


def _group(raw: dict[str, Any], study: Study) -> Group:
    names = flow_names(raw, study)
    network = next(one for one in study.networks if one.name == raw["network"])
    kinds = tuple(snapshot.kind_of(flow, network) for flow in lineup(raw, study))
    # flows of other designs are all of one kind
    kinds = kinds or ("",) * len(names)
    return Group(str(raw["key"]), str(raw["network"]), names, kinds, bool(raw.get("placebo")))


def _subjects(group: Group, groups: Sequence[Group]) -> Iterator[Subject]:
    """What a group's figures, parameters and probes are about; ``groups``: all of the side."""
    for number, name in enumerate(group.names):
        # parameters and probes are those of a contestant on a network
        yield Subject(group.network, name)
        against = _against(group, number)
        if against is not None:
            yield Subject(group.network, name, against)
        several = {
            "groups": _groups_with(groups, group.network, name, against),
            "kinds": len({kind for one, kind in zip(group.names, group.kinds, strict=True) if one == name}),
        }
        detail = snapshot.detail(group.key, group.kinds[number], **several)
        if not group.is_placebo and detail:
            yield Subject(group.network, name, against, detail)


def _against(group: Group, number: int) -> str | None:
    return group.names[1 - number] if len(group.names) == 2 else None


def _groups_with(groups: Sequence[Group], network: str, name: str, against: str | None) -> int:
    """Number of groups in which a contestant has this rival, or none, on a network."""
    return sum(
        any(one == name and _against(group, number) == against for number, one in enumerate(group.names))
        for group in groups
        if group.network == network and not group.is_placebo
    )
