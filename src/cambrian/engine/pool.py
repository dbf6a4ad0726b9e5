"""Runs many trials, one a core, each worker pinned to its own.

A worker is a process of its own, so that reading one trial's columns never waits for
another's. Ctrl-C ends every guest; trials that were under way leave nothing behind, and
the next run does them again.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass

from cambrian.engine import trial as one_trial
from cambrian.engine.environment import Environment
from cambrian.engine.trial import Outcome
from cambrian.store.results import Results
from cambrian.study.model import Trial

#: include/uapi/linux/prctl.h
_PR_SET_PDEATHSIG = 1
#: trials handed to the workers at a time, per worker; the rest wait here, where Ctrl-C finds them
_AHEAD = 2


@dataclass(frozen=True)
class Finished:
    """One trial that came to its end: what became of it, or the error that kept it from starting."""

    trial: Trial
    outcome: Outcome | None
    error: str | None


def cores() -> list[int]:
    """The processors that this process may use."""
    return sorted(os.sched_getaffinity(0))


_core: int | None = None


def _pin(free: multiprocessing.Queue[int]) -> None:
    """A worker's first act: take a core, and leave Ctrl-C to the parent's own handling."""
    global _core  # noqa: PLW0603 - a worker process has one core for its life
    # a worker must not outlive the run, however that one ends
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _core = free.get()
    os.sched_setaffinity(0, {_core})
    # SIGTERM must unwind, so that a guest under way is ended too
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def _work(trial: Trial, environment: Environment, results: Results, cpu_limit_s: float | None) -> Outcome:
    return one_trial.run(trial, environment, results, core=_core, cpu_limit_s=cpu_limit_s)


def run(
    trials: Sequence[Trial],
    environment: Environment,
    results: Results,
    *,
    jobs: int,
    cpu_limit_s: float | None = None,
    after: Callable[[Finished], Iterable[Trial]] = lambda _: (),
) -> Iterator[Finished]:
    """Run ``trials`` on ``jobs`` cores; yields each as it ends, in order of ending.

    ``cpu_limit_s``: processor seconds a trial (default: by how far its clock has come). ``after`` may ask for
    more trials when one has ended; these are next.
    """
    context = multiprocessing.get_context("spawn")
    free: multiprocessing.Queue[int] = context.Queue()
    available = cores()
    for number in range(jobs):
        free.put(available[number % len(available)])
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    waiting = list(reversed(trials))
    under_way: dict[Future[Outcome], Trial] = {}
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_pin, initargs=(free,))
    try:
        while waiting or under_way:
            while waiting and len(under_way) < jobs * _AHEAD:
                trial = waiting.pop()
                under_way[pool.submit(_work, trial, environment, results, cpu_limit_s)] = trial
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                trial = under_way.pop(future)
                error = future.exception()
                if error is None:
                    finished = Finished(trial, future.result(), None)
                else:
                    finished = Finished(trial, None, f"{type(error).__name__}: {error}")
                waiting += reversed(list(after(finished)))
                yield finished
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
