"""Measures a study's valid trials on all cores, with a cache.

Measures are kept in the user's cache. Their key covers the trial's files, the task and the code that
measures. They are pickles, so they are never read from a results folder, which may come from a stranger.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from joblib import Memory

from cambrian import parallel, paths, source
from cambrian.judging.families import Family
from cambrian.measure import measuring
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.payload import Protocol
from cambrian.report import series
from cambrian.report.series import Series
from cambrian.store.results import TrialResult

#: the code that decides a trial's measures
_MADE_BY = ("cambrian.measure.measuring", "cambrian.report.series")
#: largest size of the cache; the least recently used measures are removed first
_MOST_BYTES = 2 * 2**30


@dataclass(frozen=True)
class Task:
    """One trial of one group: the input of :func:`cambrian.measure.measuring.measure`.

    ``bins``: most bins of the lines over time; None for no lines.
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
    """The result of a task."""

    trial: TrialMeasures
    series: Series | None


def measure_all(tasks: Sequence[Task]) -> dict[tuple[str, str], Done]:
    """(group, trial's identity) → its measures."""
    cache = _Cache()
    keys = [_key(task) for task in tasks]
    missing = [item for item in zip(keys, tasks, strict=True) if not cache.has(*item)]
    parallel.mapped(_measure, missing, what="trials measured")
    if missing:
        cache.trim()
    return {
        (task.group, task.folder.name): cache.measured(key, task)
        for key, task in zip(keys, tasks, strict=True)
    }


class _Cache:
    """Measures by their keys, in the user's cache."""

    def __init__(self) -> None:
        # measures that cannot be read are made again: no warning is needed
        logging.getLogger("joblib").setLevel(logging.CRITICAL)
        self._memory = Memory(paths.cache() / "measures", verbose=0)
        self._kept = self._memory.cache(_one, ignore=["task"])

    def has(self, key: str, task: Task) -> bool:
        return bool(self._kept.check_call_in_cache(key, task))

    def measured(self, key: str, task: Task) -> Done:
        """The measures from the cache; measured now if they are missing or cannot be read."""
        done: Done = self._kept(key, task)
        # a copy of the folder has the same measures
        return replace(done, trial=replace(done.trial, folder=task.folder))

    def trim(self) -> None:
        self._memory.reduce_size(_MOST_BYTES)


def _key(task: Task) -> str:
    """A hash of everything that decides the measures: the trial's files, the task, the code."""
    digest = hashlib.sha256(source.fingerprint(*_MADE_BY).encode())
    options = (task.with_envelope, task.families, task.protocols, task.measured_from_s, task.bins)
    digest.update(repr(options).encode())
    for name in ("manifest.json", "verdict.json"):
        digest.update((task.folder / name).read_bytes())
    for path in sorted(task.folder.rglob("*")):
        state = path.lstat()
        digest.update(f"{path.name} {state.st_size} {state.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def _measure(item: tuple[str, Task]) -> None:
    """Measure one trial into the cache; the caller reads it there."""
    _Cache().measured(*item)


def _one(key: str, task: Task) -> Done:
    del key
    # the packets are freed with this handle, so a large study fits in memory
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
    lines = series.read(
        result,
        flow_count=len(trial.flows),
        duration_s=trial.shown_s,
        seed=trial.trial.seed,
        bins=task.bins,
    )
    return Done(trial, lines)
