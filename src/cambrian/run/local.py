"""Runs trials on this machine's cores: a process for each, pinned to a core."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from cambrian import parallel
from cambrian.run import one
from cambrian.run.cores import Held, hold
from cambrian.run.pool import cores
from cambrian.store import writing
from cambrian.store.results import Results
from cambrian.study.model import Trial
from cambrian.trial.carry_out import Outcome
from cambrian.trial.environment import Environment


@dataclass(frozen=True)
class Cores:
    """The engine of a run on this machine: ``jobs`` trials at a time."""

    jobs: int

    def begin(self, environment: Environment, results: Results, cpu_limit_s: float | None) -> Local:
        """Workers that write to ``results``."""
        held = hold(self.jobs)
        every = cores()
        # cores of other runs are shared only if there are too few
        rest = [core for core in every if core not in held.cores] or every
        shared = [rest[number % len(rest)] for number in range(self.jobs - len(held.cores))]
        return Local([*held.cores, *shared], environment, results, cpu_limit_s, held)


class Local:
    """Worker processes, each pinned to one of the cores ``taken``; None leaves a worker where it is.

    ``held``: those of them that no other run has, until :meth:`close`.
    """

    def __init__(
        self,
        taken: Sequence[int | None],
        environment: Environment,
        results: Results,
        cpu_limit_s: float | None,
        held: Held | None = None,
    ) -> None:
        os.environ.setdefault("POLARS_MAX_THREADS", "1")
        self._taken = taken
        self._held = held
        self._asked = (environment, results, cpu_limit_s)
        # a killed worker leaves its temporary files; Results.sweep() removes them if this process dies too
        results.trials_folder.mkdir(parents=True, exist_ok=True)
        self._scratch = Path(tempfile.mkdtemp(dir=results.trials_folder, prefix=".scratch-"))
        self._pool = self._workers()

    def places(self) -> int:
        """Trials that can run at a time."""
        return len(self._taken)

    def submit(self, trial: Trial) -> Future[Outcome]:
        """Run a trial when a worker is free."""
        try:
            return self._pool.submit(_work, trial, *self._asked)
        except BrokenProcessPool:
            # a worker was killed: all of its pool's trials have ended with it
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = self._workers()
            return self._pool.submit(_work, trial, *self._asked)

    def stop(self) -> None:
        """End the running guests at once."""
        for process in list((self._pool._processes or {}).values()):
            process.terminate()

    def close(self) -> None:
        """Wait for the running trials, and end the workers."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        if self._held is not None:
            self._held.release()
        writing.remove(self._scratch)

    def _workers(self) -> ProcessPoolExecutor:
        """New workers, each pinned to a core."""
        context = multiprocessing.get_context("spawn")
        free: multiprocessing.Queue[int | None] = context.Queue()
        for core in self._taken:
            free.put(core)
        return ProcessPoolExecutor(
            len(self._taken),
            mp_context=context,
            initializer=_begin,
            initargs=(free, os.getpid(), str(self._scratch)),
        )


_core: int | None = None
_busy = False


def _begin(free: multiprocessing.Queue[int | None], parent: int, scratch: str) -> None:
    """Initialise a worker: take a core, and end with the process ``parent``."""
    global _core  # noqa: PLW0603 - a worker process keeps one core
    parallel.end_with(parent)
    tempfile.tempdir = scratch
    _core = free.get()
    if _core is not None:
        os.sched_setaffinity(0, {_core})
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)


def _stop(number: int, frame: object) -> None:
    """End this process; first the running guest, by an exception."""
    if _busy:
        raise KeyboardInterrupt
    os._exit(1)


def _work(trial: Trial, environment: Environment, results: Results, cpu_limit_s: float | None) -> Outcome:
    global _busy  # noqa: PLW0603 - a worker process runs one trial at a time
    _busy = True
    try:
        return one.run(trial, environment, results, core=_core, cpu_limit_s=cpu_limit_s)
    except KeyboardInterrupt:
        # the pool's own loop would take the next trial
        os._exit(1)
    finally:
        _busy = False
