"""A study from its file to a results directory: expand, run what is missing, keep the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

import cambrian
from cambrian.engine import environment, plan, watched
from cambrian.engine import trial as one_trial
from cambrian.engine.adaptive import Course
from cambrian.engine.environment import Environment
from cambrian.judging import families
from cambrian.store.results import Results
from cambrian.study.model import Contestant, Group, Study


@dataclass
class Summary:
    """What a run did; ``stopped`` says of each group with a stopping rule what it reached."""

    ran: int = 0
    kept: int = 0
    invalid: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)

    def add(self, place: str, other: Summary) -> None:
        """Count another run in, whose results lie at ``place``."""
        self.ran += other.ran
        self.kept += other.kept
        self.invalid += [(f"{place}: {label}", reasons) for label, reasons in other.invalid]
        self.errors += [f"{place}: {text}" for text in other.errors]
        self.stopped += [f"{place}: {text}" for text in other.stopped]


def needed_stacks(groups: Sequence[Group]) -> set[str]:
    """Every stack that the groups' trials run."""
    return {name for group in groups for trial in group.trials for name in plan.stack_names(trial)}


def _contestants(course: Course) -> list[Contestant]:
    """Everybody's, without repetition."""
    trials = (trial for walk in course.walks for trial in walk.group.trials)
    return list({flow.contestant.name: flow.contestant for trial in trials for flow in trial.flows}.values())


def record(results: Results, study: Study, course: Course, made: Environment, command: str) -> None:
    """Write ``study.json``: the question, where each group's trials lie, and what stopped each."""
    results.write_study(
        {
            "cambrian": cambrian.__version__,
            "command": command,
            "study": study.model_dump(mode="json"),
            "kernel": {"version": made.kernel.version, "sha256": made.kernel.sha256},
            "families": families.record(_contestants(course)),
            "groups": [
                {
                    "key": walk.group.key,
                    "design": walk.group.design,
                    "network": walk.group.network,
                    "subject": walk.group.subject,
                    "reference": walk.group.reference,
                    "page": walk.group.page,
                    "orders": walk.group.orders,
                    "placebo": walk.group.placebo,
                    "trials": list(walk.counted()),
                    "stopping": walk.record(),
                }
                for walk in course.walks
            ],
        }
    )


def run(
    study: Study,
    groups: Sequence[Group],
    out: Path,
    *,
    jobs: int,
    cpu_limit_s: float | None = None,
    command: str = "",
    console: Console | None = None,
) -> Summary:
    """Run every trial that ``out`` does not hold yet, with progress.

    Raises:
        What :func:`cambrian.engine.environment.ensure` raises.
    """
    console = console or Console(stderr=True)
    made = environment.ensure(needed_stacks(groups))
    results = Results(out)
    results.sweep()
    names = {id(trial): one_trial.trial_id(trial, made) for group in groups for trial in group.trials}
    course = Course(groups, names, results)
    record(results, study, course, made, command)
    missing = course.first()
    kept = {name for name in course.counted() if results.has(name)}
    summary = Summary(kept=len(kept))
    if summary.kept:
        total = f"{'up to ' if course.adaptive else ''}{course.at_most() + len(kept)}"
        console.print(f"{summary.kept} of {total} trials are there already", highlight=False)
    supply = course if course.adaptive else None
    undecided = course.undecided()
    for label, finished in watched.run(
        missing, made, results, jobs=jobs, cpu_limit_s=cpu_limit_s, console=console, supply=supply
    ):
        if finished.outcome is None:
            summary.errors.append(f"{label}: {finished.error}")
        else:
            summary.ran += 1
        if course.undecided() < undecided:
            # a run that is killed leaves a record of what was decided
            undecided = course.undecided()
            record(results, study, course, made, command)
    record(results, study, course, made, command)
    for name, label in course.counted().items():
        if results.has(name):
            verdict = results.trial(name).verdict
            if not verdict["valid"]:
                summary.invalid.append((label, tuple(verdict["reasons"])))
    summary.stopped = [str(walk) for walk in course.walks if walk.group.stopping]
    return summary
