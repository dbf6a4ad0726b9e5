"""Run a property's trials in one situation, and say how far each seed breaks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from cambrian.hunt import situation as situations
from cambrian.hunt.properties import Property
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures
from cambrian.run import pool, prepare
from cambrian.run.local import Cores
from cambrian.stacks import catalogue, checks
from cambrian.store.results import Results, TrialResult
from cambrian.study.errors import StudyError
from cambrian.study.expand import expand
from cambrian.study.load import parse_study
from cambrian.study.model import Group, Trial
from cambrian.study.naming import slug
from cambrian.study.reference import REFERENCE_STACK
from cambrian.trial import carry_out, plan
from cambrian.trial.carry_out import Outcome

#: the property that invalid trials count for
ENDS = "goes-on"
#: trials whose figures stay in memory
_MOST_MEASURED = 20


@dataclass(frozen=True)
class Evidence:
    """What a property's trials showed: for each seed (and order of flows) how far it is broken, and in words.

    ``kernel``: the same of kernel TCP, empty if it was not needed. ``invalid``: reasons of invalid trials.
    """

    excess: tuple[float, ...]
    shows: tuple[str, ...]
    kernel: tuple[float, ...] = ()
    kernel_shows: tuple[str, ...] = ()
    invalid: tuple[str, ...] = ()

    @property
    def is_broken(self) -> bool:
        """Do all seeds break it, and does kernel TCP keep it in all?"""
        return bool(self.excess) and min(self.excess) > 0 and bool(self.kernel) and max(self.kernel) <= 0

    @property
    def score(self) -> float:
        """How close it is to broken; above 0 if all seeds break it."""
        return min(self.excess, default=-1.0)


class Runner:
    """Runs the trials of one contestant (``stack/cca``) on worker processes, and keeps their results.

    Raises:
        StudyError: the contestant is unknown or has no reference.
        Errors of :func:`cambrian.run.prepare.ensure`.
    """

    def __init__(self, contestant: str, folder: Path, jobs: int) -> None:
        checks.check_named(contestant)
        stack, cca = contestant.split("/")
        reference = catalogue.reference_of(stack, cca)
        if reference is None:
            raise StudyError(
                file="hunt",
                key=contestant,
                problem="kernel TCP has no such algorithm to compare with",
                remedy="give a contestant with a reference",
            )
        self.contestant, self.reference = contestant, reference
        self.results = Results(folder)
        self._label = contestant.replace("/", " ")
        plain = situations.study_toml(
            "hunt", "", {"network": Situation()}, contestant, reference, rival=True, seeds=1
        )
        trials = [trial for group in self._groups(plain) for trial in group.trials]
        self._made = prepare.ensure({name for trial in trials for name in plan.stack_names(trial)})
        self._alone = self.results.alone()
        self._jobs = jobs
        self._measured: dict[str, Figures] = {}

    def __enter__(self) -> Runner:
        self._alone.__enter__()
        self._workers = Cores(self._jobs).begin(self._made, self.results, None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._workers.stop()
        self._workers.close()
        self._alone.__exit__(kind, error, trace)

    def study(self, one: Property, situation: Situation, seeds: int) -> str:
        """The TOML text of the study with these trials."""
        variants = one.variants(situation)
        names = ["network"] if len(variants) == 1 else ["path", "better-path"]
        return situations.study_toml(
            f"hunted-{slug(self.contestant)}-{one.name}",
            f"{self._label}: {one.name}",
            dict(zip(names, variants, strict=True)),
            self.contestant,
            self.reference,
            rival=one.rival,
            seeds=seeds,
        )

    def evidence(self, one: Property, situation: Situation, seeds: int) -> Evidence:
        """Run the contestant's trials, and kernel TCP's if all seeds break the property."""
        groups = self._groups(self.study(one, situation, seeds))
        own = [group for group in groups if group.subject == self._label and not group.placebo]
        excess, shows, invalid = self._judged(one, situation, own)
        if not excess or min(excess) <= 0:
            return Evidence(excess, shows, invalid=invalid)
        if self.contestant.startswith(f"{REFERENCE_STACK}/"):
            # the reference has no other reference: a property that it breaks is probably wrong
            return Evidence(excess, shows, (-1.0,), invalid=invalid)
        kernel = f"{REFERENCE_STACK} {self.reference}"
        beside = [group for group in groups if group.subject == kernel and not group.placebo]
        kernel_excess, kernel_shows, _ = self._judged(one, situation, beside)
        return Evidence(excess, shows, kernel_excess, kernel_shows, invalid)

    def _groups(self, text: str) -> list[Group]:
        study = parse_study(text, "hunt", Path(), catalogue.ccas(), catalogue.reference_of, checks)
        return list(expand(study, reference_of=catalogue.reference_of))

    def _judged(
        self, one: Property, situation: Situation, groups: Sequence[Group]
    ) -> tuple[tuple[float, ...], tuple[str, ...], tuple[str, ...]]:
        """How far each sample breaks the property and what it shows; and reasons of invalid trials.

        A sample is the trials of one seed and order, one for each variant. One with an invalid trial counts
        only for a property about how a flow ends.
        """
        found = self._run([trial for group in groups for trial in group.trials])
        size = len(groups[0].trials)
        excess, shows, invalid = [], [], []
        for number in range(size):
            trials = [found[id(group.trials[number])] for group in groups]
            bad = [reason for result in trials for reason in result.verdict["reasons"]]
            figures = [self._figures(result) for result in trials]
            if bad and one.name != ENDS:
                invalid += bad
                excess.append(-1.0)
                shows.append(f"an invalid trial: {bad[0]}")
                continue
            excess.append(one.excess(figures, situation))
            shows.append(one.shows(figures, situation))
        return tuple(excess), tuple(shows), tuple(invalid)

    def _figures(self, result: TrialResult) -> Figures:
        """A trial's figures: the properties share the trials of a situation, and measure each once."""
        if result.id not in self._measured:
            if len(self._measured) >= _MOST_MEASURED:
                self._measured.clear()
            self._measured[result.id] = Figures(result)
        return self._measured[result.id]

    def _run(self, trials: Sequence[Trial]) -> Mapping[int, TrialResult]:
        """id(trial) → its result, run if it has none."""
        names = {id(trial): carry_out.trial_id(trial, self._made) for trial in trials}
        missing = {names[id(trial)]: trial for trial in trials if not self.results.has(names[id(trial)])}
        for attempt in range(pool.TRIES):
            futures: dict[str, Future[Outcome]] = {
                name: self._workers.submit(trial) for name, trial in missing.items()
            }
            for name, future in futures.items():
                error = future.exception()
                if error is None:
                    del missing[name]
                elif attempt + 1 == pool.TRIES or not isinstance(error, pool.DISTURBANCES):
                    raise error
            if not missing:
                break
        return {number: self.results.checked(name) for number, name in names.items()}
