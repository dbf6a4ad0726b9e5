"""Measures a study's valid trials, on every core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cambrian import parallel
from cambrian.judging.families import Family
from cambrian.measure import measuring
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.payload import Protocol
from cambrian.report import series
from cambrian.report.series import Series
from cambrian.store.results import TrialResult


@dataclass(frozen=True)
class Task:
    """One trial of one group: what :func:`cambrian.measure.measuring.measure` must know of it.

    ``bins``: of the lines over time that show it; None for no lines.
    """

    group: str
    folder: Path
    with_envelope: bool
    families: tuple[Family | None, ...]
    protocols: tuple[Protocol | None, ...]
    measured_from_s: float | None
    bins: int | None


@dataclass(frozen=True)
class Done:
    """What became of a task."""

    trial: TrialMeasures
    series: Series | None


def measure_all(tasks: Sequence[Task]) -> dict[tuple[str, str], Done]:
    """(group, trial's identity) → its measures."""
    done = parallel.mapped(_one, tasks, what="trials measured")
    return {(task.group, task.folder.name): one for task, one in zip(tasks, done, strict=True)}


def _one(task: Task) -> Done:
    # the packets go with this handle, so that a large study fits in memory
    result = TrialResult(task.folder)
    trial = measuring.measure(
        result,
        with_envelope=task.with_envelope,
        families=task.families,
        protocols=task.protocols,
        measured_from_s=task.measured_from_s,
    )
    if task.bins is None:
        return Done(trial, None)
    lines = series.of(
        result,
        flow_count=len(trial.flows),
        duration_s=trial.shown_s,
        seed=trial.trial.seed,
        bins=task.bins,
    )
    return Done(trial, lines)
