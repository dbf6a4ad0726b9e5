"""Each contestant's parameters on each network, and its verdict over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cambrian.judging import contestants, verdicts
from cambrian.judging.contestants import Judged
from cambrian.judging.verdicts import Verdict
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.report.collect import Cell, Collected

Trials = list[Sequence[Estimate | Missing]]


def by_network(collected: Collected) -> dict[tuple[str, str], Judged]:
    """(contestant, network) → what its flows there say; those that are judged against nothing are absent."""
    trials: dict[tuple[str, str], Trials] = {}
    for cell in collected.cells:
        for number in _subjects(cell):
            place = (cell.names[number], cell.network.name)
            for trial in cell.trials:
                if number < len(trial.parameters) and trial.parameters[number]:
                    trials.setdefault(place, []).append(trial.parameters[number])
    first = {
        place: contestants.judge(place[1], _reference(collected, place[0]), found)
        for place, found in trials.items()
    }
    families = {name: _commonest(first, name) for name, _ in first}
    # one network may not show which generation of BBR it is: then the others say
    return {
        place: one
        if one.family == families[place[0]]
        else contestants.judge(place[1], families[place[0]], trials[place])
        for place, one in first.items()
    }


def _commonest(judged: Mapping[tuple[str, str], Judged], contestant: str) -> str:
    found = [one.family for (name, _), one in judged.items() if name == contestant]
    return max(found, key=found.count)


def _subjects(cell: Cell) -> Iterator[int]:
    """The flows of a group that it is about: flow 0, or all that a study lists."""
    return iter(range(len(cell.names)) if cell.design == "flows" else range(1))


def _reference(collected: Collected, contestant: str) -> str:
    family = collected.families.get(contestant)
    return family.reference if family else ""


def all_verdicts(collected: Collected) -> list[Verdict]:
    """One a contestant, in the study's order."""
    judged = by_network(collected)
    found = []
    for name in dict.fromkeys(contestant for contestant, _ in judged):
        here = [one for (contestant, _), one in judged.items() if contestant == name]
        findings = [finding for one in here for finding in one.findings]
        seen = {finding.key for finding in findings}
        missing = {key: why for one in here for key, why in one.missing.items() if key not in seen}
        found.append(verdicts.verdict(name, _commonest(judged, name), findings, missing))
    return found
