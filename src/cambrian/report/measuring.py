"""Measures a study's valid trials on all cores, each once: until its files, the task or the code change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cambrian.judging.families import Family
from cambrian.measure import measuring
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.payload import Protocol
from cambrian.report.kept import kept, key_of_trial
from cambrian.store.results import TrialResult

#: the code that decides a trial's measures
_MADE_BY = ("cambrian.measure.measuring",)


@dataclass(frozen=True)
class Task:
    """One trial of one group: the input of :func:`cambrian.measure.measuring.measure`."""

    group: str
    folder: Path
    with_envelope: bool
    families: tuple[Family | None, ...]
    protocols: tuple[Protocol | None, ...]
    measured_from_s: float | None


def measure_all(tasks: Sequence[Task]) -> dict[tuple[str, str], TrialMeasures]:
    """(group, trial's identity) → its measures."""
    keys = [
        key_of_trial(
            task.folder, _MADE_BY, task.with_envelope, task.families, task.protocols, task.measured_from_s
        )
        for task in tasks
    ]
    done = kept(_one, list(zip(keys, tasks, strict=True)), what="trials measured")
    return {
        # a copy of the folder has the same measures
        (task.group, task.folder.name): replace(trial, folder=task.folder)
        for task, trial in zip(tasks, done, strict=True)
    }


def _one(key: str, task: Task) -> TrialMeasures:
    del key
    # the packets are freed with this handle, so a large study fits in memory
    return measuring.measure(
        TrialResult(task.folder),
        with_envelope=task.with_envelope,
        families=task.families,
        protocols=task.protocols,
        measured_from_s=task.measured_from_s,
    )
