"""A study from its file to a results directory: expand, run what is missing, keep the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

import cambrian
from cambrian.engine import environment, plan, watched
from cambrian.engine import trial as one_trial
from cambrian.engine.environment import Environment
from cambrian.store.results import Results
from cambrian.study.model import Group, Study, Trial


@dataclass
class Summary:
    """What a run did."""

    ran: int = 0
    kept: int = 0
    invalid: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def needed_stacks(groups: Sequence[Group]) -> set[str]:
    """Every stack that the groups' trials run."""
    return {name for group in groups for trial in group.trials for name in plan.stack_names(trial)}


def record(
    results: Results,
    study: Study,
    groups: Sequence[Group],
    made: Environment,
    names: Mapping[int, str],
    command: str,
) -> None:
    """Write ``study.json``: the question, and where each group's trials lie (``names``: id(trial) → name)."""
    results.write_study(
        {
            "cambrian": cambrian.__version__,
            "command": command,
            "study": study.model_dump(mode="json"),
            "kernel": {"version": made.kernel.version, "sha256": made.kernel.sha256},
            "groups": [
                {
                    "key": group.key,
                    "design": group.design,
                    "network": group.network,
                    "subject": group.subject,
                    "reference": group.reference,
                    "page": group.page,
                    "trials": [names[id(trial)] for trial in group.trials],
                }
                for group in groups
            ],
        }
    )


def run(
    study: Study,
    groups: Sequence[Group],
    out: Path,
    *,
    jobs: int,
    limit_s: float | None = None,
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
    record(results, study, groups, made, names, command)
    by_name: dict[str, Trial] = {}
    labels: dict[str, str] = {}
    for group in groups:
        for trial in group.trials:
            by_name[names[id(trial)]] = trial
            labels[names[id(trial)]] = f"{group.key} seed {trial.seed}"
    missing = {labels[name]: trial for name, trial in by_name.items() if not results.has(name)}
    summary = Summary(kept=len(by_name) - len(missing))
    if summary.kept:
        console.print(f"{summary.kept} of {len(by_name)} trials are there already", highlight=False)
    for label, finished in watched.run(missing, made, results, jobs=jobs, limit_s=limit_s, console=console):
        if finished.outcome is None:
            summary.errors.append(f"{label}: {finished.error}")
        else:
            summary.ran += 1
    for name in by_name:
        if results.has(name):
            verdict = results.trial(name).verdict
            if not verdict["valid"]:
                summary.invalid.append((labels[name], tuple(verdict["reasons"])))
    return summary
