"""A study from its file to a results directory: expand, run what is missing, keep the record."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

import cambrian
from cambrian.engine import environment, plan, pool
from cambrian.engine import trial as one_trial
from cambrian.engine.environment import Environment
from cambrian.store.results import Results
from cambrian.study import cost
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


def record(results: Results, study: Study, groups: Sequence[Group], made: Environment, command: str) -> None:
    """Write ``study.json``: the question, and where each group's trials lie."""
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
                    "trials": [one_trial.trial_id(trial, made) for trial in group.trials],
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
    record(results, study, groups, made, command)
    by_id: dict[str, Trial] = {}
    labels: dict[str, str] = {}
    for group in groups:
        for trial in group.trials:
            name = one_trial.trial_id(trial, made)
            by_id[name] = trial
            labels[name] = f"{group.key} seed {trial.seed}"
    missing = [trial for name, trial in by_id.items() if not results.has(name)]
    summary = Summary(kept=len(by_id) - len(missing))
    if summary.kept:
        console.print(f"{summary.kept} of {len(by_id)} trials are there already", highlight=False)
    if missing:
        _run_missing(missing, made, results, labels, summary, jobs, limit_s, console)
    for name in by_id:
        if results.has(name):
            verdict = results.trial(name).verdict
            if not verdict["valid"]:
                summary.invalid.append((labels[name], tuple(verdict["reasons"])))
    return summary


def _run_missing(
    missing: list[Trial],
    made: Environment,
    results: Results,
    labels: dict[str, str],
    summary: Summary,
    jobs: int,
    limit_s: float | None,
    console: Console,
) -> None:
    # the longest first, so that no core waits for one long trial at the end
    ordered = sorted(missing, key=cost.DEFAULT_SPEED.wall_s, reverse=True)
    columns = (
        TextColumn("trials"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(ordered))
        for number, finished in enumerate(
            pool.run(ordered, made, results, jobs=jobs, limit_s=limit_s), start=1
        ):
            label = labels[one_trial.trial_id(finished.trial, made)]
            if finished.outcome is None:
                summary.errors.append(f"{label}: {finished.error}")
                text = f"{label}: failed: {finished.error}"
            else:
                summary.ran += 1
                outcome = finished.outcome
                state = "valid" if outcome.valid else f"INVALID: {outcome.reasons[0]}"
                text = f"{label}: {outcome.wall_s:.1f} s ({outcome.speed:.0f}x real time), {state}"
            if console.is_terminal:
                progress.update(task, advance=1, description=text[:100])
            else:
                print(f"[{number}/{len(ordered)}] {text}", file=sys.stderr, flush=True)
