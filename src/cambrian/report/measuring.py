"""Measures a study's valid trials on all cores, with a cache.

Measures are kept in the user's cache. Their key covers the trial's files, the task and the code that
measures. They are pickles, so they are never read from a results folder, which may come from a stranger.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from joblib import Memory

from cambrian import parallel, paths, source
from cambrian.judging.families import Family
from cambrian.measure import measuring
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.payload import Protocol
from cambrian.store.results import TrialResult

Result = TypeVar("Result")

#: the code that decides a trial's measures
_MADE_BY = ("cambrian.measure.measuring",)
#: largest size of the cache; the least recently used measures are removed first
_MOST_BYTES = 2 * 2**30
#: looking at every file of a full cache takes seconds, so that is done once in this time
_TRIM_EVERY_S = 24 * 3600


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
        key(task.folder, _MADE_BY, task.with_envelope, task.families, task.protocols, task.measured_from_s)
        for task in tasks
    ]
    done = kept(_one, list(zip(keys, tasks, strict=True)), what="trials measured")
    return {
        # a copy of the folder has the same measures
        (task.group, task.folder.name): replace(trial, folder=task.folder)
        for task, trial in zip(tasks, done, strict=True)
    }


def kept(make: Callable[[str, Any], Result], items: Sequence[tuple[str, Any]], *, what: str) -> list[Result]:
    """``make(key, task)`` for each item, made on all cores where the cache lacks it."""
    cache = _Cache(make)
    missing = [item for item in items if not cache.has(*item)]
    parallel.mapped(partial(_make, make), missing, what=what)
    if missing:
        cache.trim()
    return [cache.made(*item) for item in items]


class _Cache(Generic[Result]):
    """Results of a function by their keys, in the user's cache."""

    def __init__(self, make: Callable[[str, Any], Result]) -> None:
        # results that cannot be read are made again: no warning is needed
        logging.getLogger("joblib").setLevel(logging.CRITICAL)
        self._folder = paths.cache() / "measures"
        self._memory = Memory(self._folder, verbose=0)
        self._kept = self._memory.cache(make, ignore=["task"])

    def has(self, key: str, task: Any) -> bool:
        return bool(self._kept.check_call_in_cache(key, task))

    def made(self, key: str, task: Any) -> Result:
        """The result from the cache; made now if it is missing or cannot be read."""
        done: Result = self._kept(key, task)
        return done

    def trim(self) -> None:
        """Remove the least recently used results beyond the largest size, at most once a day."""
        stamp = self._folder / "trimmed"
        if stamp.exists() and time.time() - stamp.stat().st_mtime < _TRIM_EVERY_S:
            return
        stamp.touch()
        self._memory.reduce_size(_MOST_BYTES)


def key(folder: Path, made_by: Sequence[str], *options: object) -> str:
    """A hash of everything that decides a result: the trial's files, the options, the code."""
    digest = hashlib.sha256(source.fingerprint(*made_by).encode())
    digest.update(repr(options).encode())
    for name in ("manifest.json", "verdict.json"):
        digest.update((folder / name).read_bytes())
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        digest.update(f"{path.name} {state.st_size} {state.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def _make(make: Callable[[str, Any], object], item: tuple[str, Any]) -> None:
    """Make one result into the cache; the caller reads it there."""
    _Cache(make).made(*item)


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
