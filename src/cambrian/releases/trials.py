"""Measures releases: a study's trials with each release as the contestant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console

from cambrian.gate import snapshot
from cambrian.gate.carry_out import contestants
from cambrian.gate.snapshot import INVALID, Snapshot
from cambrian.run import study as studies
from cambrian.run.study import RunOptions
from cambrian.stacks import catalogue, releases
from cambrian.store.results import Results
from cambrian.study import cost
from cambrian.study.errors import StudyError
from cambrian.study.model import Group
from cambrian.study.reference import REFERENCE_STACK

#: the study of both commands, unless the user names one
STUDY = str(Path(__file__).with_name("alone.toml"))


@dataclass(frozen=True)
class Bench:
    """A study for contestants of one stack and CCA; ``folder`` keeps its trials.

    ``network``: a pattern of the networks that count.
    ``reference``: kernel TCP runs too, if the study has it, because parameters and probes are judged by it.
    """

    stack: str
    cca: str
    options: RunOptions
    folder: Path
    network: str = "*"
    reference: bool = True

    def contestant(self, release: str) -> str:
        """``stack@release/cca``."""
        return f"{releases.joined(self.stack, release)}/{self.cca}"

    def check(self) -> None:
        """See that releases can run in the study, before one is built.

        Raises:
            StudyError: they cannot, or it has no such network.
        """
        # only some releases may have the CCA; design and networks are the same with any
        of_today = catalogue.load()[self.stack].manifest.ccas
        cca = self.cca if self.cca in of_today else next(iter(of_today))
        study, groups = studies.expanded(replace(self.options, contestants=(f"{self.stack}/{cca}",)))
        if study.design != "solo":
            raise StudyError(
                file=self.options.study,
                key="design",
                problem=f'releases run alone, and this study has design = "{study.design}"',
                remedy='give a study with design = "solo"',
            )
        self._selected(groups)

    def measure(self, wanted: Sequence[str], console: Console) -> dict[str, Snapshot]:
        """Run the trials of these releases that ``folder`` lacks; release → what it measures.

        Raises:
            StudyError: the study cannot have these contestants, or has no such network.
            Errors of :func:`cambrian.run.study.run_groups`.
        """
        options = replace(self.options, contestants=tuple(map(self.contestant, wanted)))
        study, groups = studies.expanded(options)
        groups = self._selected(groups)
        console.print(str(cost.estimate(groups, jobs=options.at_a_time)), markup=False)
        folder = self.folder.absolute()
        # another run must not exchange what is measured
        with Results(folder).alone():
            summary = studies.run_groups(study, groups, folder, options, console, held=True)
            for text in summary.errors:
                console.print(f"could not run: {text}", markup=False)
            return {release: self._taken(release, groups) for release in wanted}

    def _taken(self, release: str, groups: Sequence[Group]) -> Snapshot:
        """What a release measures; each trial of it that did not run is in ``packets``, as invalid."""
        contestant = self.contestant(release)
        # a stopping rule may need fewer than all
        mine = (group for group in groups if contestant in contestants(group) and group.stopping is None)
        expected = sum(len(group.trials) for group in mine)
        try:
            found = snapshot.take({"": self.folder}, contestant)
        except StudyError:
            # none of its trials ran
            found = Snapshot(contestant=contestant, made_with={}, packets={})
        missing = max(0, expected - len(found.packets))
        absent = {f"trial {number}": f"{INVALID}did not run" for number in range(1, missing + 1)}
        return found.model_copy(update={"packets": found.packets | absent})

    def _selected(self, groups: Sequence[Group]) -> list[Group]:
        found = [
            group
            for group in groups
            if fnmatchcase(group.network, self.network) and (self.reference or not _of_kernel(group))
        ]
        if not found:
            networks = ", ".join(dict.fromkeys(group.network for group in groups))
            raise StudyError(
                file="--network",
                key=self.network,
                problem="the study has no such network",
                remedy=f"its networks: {networks}",
            )
        return found


def _of_kernel(group: Group) -> bool:
    return all(flow.contestant.stack == REFERENCE_STACK for flow in group.trials[0].flows)


def invalid(one: Snapshot) -> str | None:
    """Why trials of a snapshot do not count; None if all are valid."""
    bad = [text.removeprefix(INVALID) for text in one.packets.values() if text.startswith(INVALID)]
    return f"{len(bad)} of {len(one.packets)} trials are invalid: {bad[0]}" if bad else None
