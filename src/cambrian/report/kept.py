"""Results that are made once: in the user's cache, under a key of everything that decides them.

They are pickles, so they are never read from a results folder, which may come from a stranger.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from joblib import Memory

from cambrian import parallel, paths, source
from cambrian.metrics.columns import FloatArray

Result = TypeVar("Result")

#: once a day the least recently used results are removed until the cache has this size
_MOST_BYTES = 2 * 2**30
#: looking at every file of a full cache takes seconds, so that is done once in this time
_TRIM_EVERY_S = 24 * 3600
_LIBRARIES = ("numpy", "polars", "scikit-learn", "scipy", "shapely")


def kept(make: Callable[[str, Any], Result], items: Sequence[tuple[str, Any]], *, what: str) -> list[Result]:
    """``make(key, task)`` for each item, made on all cores where the cache lacks it.

    ``make`` is a module's function with exactly these names of its arguments.
    """
    make_missing(make, items, what=what)
    results = _Cache(make)
    return [results.made(*item) for item in items]


def make_missing(make: Callable[[str, Any], object], items: Sequence[tuple[str, Any]], *, what: str) -> None:
    """Make what the cache lacks, as :func:`kept` does, without reading it back."""
    results = _Cache(make)
    missing = [item for item in items if not results.has(*item)]
    parallel.mapped(partial(_make, make), missing, what=what)
    if missing:
        results.trim()


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
        """Remove the least recently used results, at most once a day."""
        stamp = self._folder / "trimmed"
        if stamp.exists() and 0 <= time.time() - stamp.stat().st_mtime < _TRIM_EVERY_S:
            return
        with suppress(OSError):  # a full disk
            stamp.touch()
        self._memory.reduce_size(_MOST_BYTES)


def key_of_trial(folder: Path, made_by: Sequence[str], *options: object) -> str:
    """A hash of everything that decides a trial's result: its files, the options, the code."""
    digest = hashlib.sha256(_code(made_by).encode())
    digest.update(repr(options).encode())
    for name in ("manifest.json", "verdict.json"):
        digest.update((folder / name).read_bytes())
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        digest.update(f"{path.name} {state.st_size} {state.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def key_of_arrays(made_by: Sequence[str], *arrays: FloatArray) -> str:
    """A hash of everything that decides a result: the arrays, the code."""
    digest = hashlib.sha256(_code(made_by).encode())
    for one in arrays:
        digest.update(f"{one.dtype} {one.shape}\0".encode() + np.ascontiguousarray(one).tobytes())
    return digest.hexdigest()


def _code(made_by: Sequence[str]) -> str:
    return " ".join([source.fingerprint(*made_by), *_libraries()])


@cache
def _libraries() -> list[str]:
    """The releases of the libraries that compute results."""
    return [f"{name} {metadata.version(name)}" for name in _LIBRARIES]


def _make(make: Callable[[str, Any], object], item: tuple[str, Any]) -> None:
    """Make one result into the cache; the caller reads it there."""
    _Cache(make).made(*item)
