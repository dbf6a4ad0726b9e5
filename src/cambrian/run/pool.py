"""Runs many trials, one per core; shows a bar with an ETA on a terminal, otherwise one line per trial.

Each worker is a process, pinned to a core, so that reading one trial's columns does not wait for another
trial. Ctrl-C ends every guest; unfinished trials leave no files, and the next run repeats them. A trial whose
worker or guest is killed has no result: it runs again, up to :data:`TRIES` times. A full disk ends the run.
"""

from __future__ import annotations

import ctypes
import errno
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from cambrian.store.results import Results
from cambrian.study import cost
from cambrian.study.model import Trial
from cambrian.trial import carry_out
from cambrian.trial.boot import Disturbed
from cambrian.trial.carry_out import Outcome
from cambrian.trial.environment import Environment

#: include/uapi/linux/prctl.h
_PR_SET_PDEATHSIG = 1
#: trials submitted at a time, per worker; the others wait in this process, so that Ctrl-C discards them
_AHEAD = 2
#: how often a trial is tried if the host disturbs it, and the pause before it is tried again
TRIES = 3
_PAUSE_S = 1.0
#: errors of a trial whose guest or worker the host ended
_DISTURBANCES = (BrokenProcessPool, CancelledError, Disturbed)
#: errors of the results' disk, not of a trial
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
#: characters of a trial's line that are shown beside the bar
_SHOWN = 100


@dataclass(frozen=True)
class Finished:
    """One trial that has ended: its outcome, or the error that prevented it."""

    trial: Trial
    outcome: Outcome | None
    error: str | None


def cores() -> list[int]:
    """The processors that this process may use."""
    return sorted(os.sched_getaffinity(0))


class TrialSource(Protocol):
    """A source of trials for a run whose number of trials is not known in advance."""

    def after(self, finished: Finished) -> Mapping[str, Trial]:
        """Label → trial of the trials to run next, after this one has ended."""

    def at_most(self) -> int:
        """Upper bound for the number of trials of this run, including those that have ended."""


def run_with_progress(
    trials: Mapping[str, Trial],
    made: Environment,
    results: Results,
    *,
    jobs: int,
    cpu_limit_s: float | None = None,
    console: Console,
    source: TrialSource | None = None,
) -> Iterator[tuple[str, Finished]]:
    """:func:`run` with progress; ``trials`` are label → trial, each trial once. Yields each with its label.

    ``cpu_limit_s``: CPU seconds per trial (default: :func:`cambrian.trial.limits.limits_of`).
    ``source`` may add trials when a trial ends. The bar's total and its time left are then
    upper bounds, which fall when groups need fewer trials.
    """
    # longest trials first, so that no core waits for one long trial at the end
    ordered = sorted(trials.items(), key=lambda item: cost.DEFAULT_SPEED.wall_s(item[1]), reverse=True)
    columns = (
        TextColumn("trials"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left" if source is None else "left at most"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    labels = {id(trial): label for label, trial in ordered}
    asked = [trial for _, trial in ordered]

    def total() -> int:
        return len(labels) if source is None else source.at_most()

    def after(finished: Finished) -> Iterable[Trial]:
        more = source.after(finished) if source is not None else {}
        labels.update({id(trial): label for label, trial in more.items()})
        return more.values()

    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total())
        under_way = (
            run(asked, made, results, jobs=jobs, cpu_limit_s=cpu_limit_s, after=after) if asked else ()
        )
        for number, finished in enumerate(under_way, start=1):
            label = labels[id(finished.trial)]
            text = _line(label, finished)
            if console.is_terminal:
                # update() would reset the speed, and so the time left, whenever the total falls
                progress.tasks[task].total = total()
                progress.update(task, advance=1, description=text[:_SHOWN])
            else:
                print(f"[{number}/{total()}] {text}", file=sys.stderr, flush=True)
            yield label, finished


def _line(label: str, finished: Finished) -> str:
    outcome = finished.outcome
    if outcome is None:
        return f"{label}: failed: {finished.error}"
    state = "valid" if outcome.valid else f"INVALID: {outcome.reasons[0]}"
    return f"{label}: {outcome.wall_s:.1f} s ({outcome.speed:.0f}x real time), {state}"


_core: int | None = None
_stopping = False


def _pin(free: multiprocessing.Queue[int], parent: int) -> None:
    """Initialise a worker: take a core, and end with the process ``parent``."""
    global _core  # noqa: PLW0603 - a worker process keeps one core
    # a worker must not outlive the run, even if the run is killed
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        # it died before the kernel knew that this process must end with it
        os._exit(1)
    _core = free.get()
    os.sched_setaffinity(0, {_core})
    signal.signal(signal.SIGTERM, _stop)


def _stop(number: int, frame: object) -> None:
    """End the running guest by an exception, and begin no other trial."""
    global _stopping  # noqa: PLW0603 - the pool's own loop catches the exception and takes the next trial
    _stopping = True
    raise KeyboardInterrupt


def _work(trial: Trial, environment: Environment, results: Results, cpu_limit_s: float | None) -> Outcome:
    if _stopping:
        raise KeyboardInterrupt
    return carry_out.run(trial, environment, results, core=_core, cpu_limit_s=cpu_limit_s)


def run(
    trials: Sequence[Trial],
    environment: Environment,
    results: Results,
    *,
    jobs: int,
    cpu_limit_s: float | None = None,
    after: Callable[[Finished], Iterable[Trial]] = lambda _: (),
) -> Iterator[Finished]:
    """Run ``trials`` on ``jobs`` cores; yields each trial when it ends.

    ``after`` may add trials when one has ended; these run next.

    Raises:
        OSError: the disk of the results is full, read-only or faulty.
    """
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    waiting = list(reversed(trials))
    under_way: dict[Future[Outcome], Trial] = {}
    tries: Counter[int] = Counter()
    pool = _workers(jobs)
    try:
        while waiting or under_way:
            broken = False
            while waiting and len(under_way) < jobs * _AHEAD:
                trial = waiting.pop()
                try:
                    future = pool.submit(_work, trial, environment, results, cpu_limit_s)
                except BrokenProcessPool:
                    waiting.append(trial)
                    broken = True
                    break
                under_way[future] = trial
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            errors = {future: future.exception() for future in done}
            for error in errors.values():
                if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
                    # every other trial would fail too
                    raise OSError(error.errno, error.strerror, str(results.folder)) from error
            if broken or any(isinstance(error, BrokenProcessPool) for error in errors.values()):
                # a worker was killed: all of its pool's trials end with it
                pool.shutdown(wait=True, cancel_futures=True)
                pool = _workers(jobs)
            for future, error in errors.items():
                trial = under_way.pop(future)
                if _runs_again(trial, error, tries):
                    waiting.append(trial)
                    continue
                finished = _finished(trial, future, error)
                waiting += reversed(list(after(finished)))
                yield finished
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _runs_again(trial: Trial, error: BaseException | None, tries: Counter[int]) -> bool:
    """Was the trial disturbed by the host, and may it be tried once more? ``tries``: id(trial) → tries."""
    if not isinstance(error, _DISTURBANCES):
        return False
    tries[id(trial)] += 1
    if tries[id(trial)] >= TRIES:
        return False
    print(f"cambrian: a trial runs again: {_in_words(error)}", file=sys.stderr, flush=True)
    time.sleep(_PAUSE_S)
    return True


def _finished(trial: Trial, future: Future[Outcome], error: BaseException | None) -> Finished:
    if error is None:
        return Finished(trial, future.result(), None)
    if isinstance(error, _DISTURBANCES):
        return Finished(trial, None, f"tried {TRIES} times; the last time, {_in_words(error)}")
    return Finished(trial, None, _in_words(error))


def _in_words(error: BaseException) -> str:
    if isinstance(error, Disturbed):
        return str(error)
    if isinstance(error, _DISTURBANCES):
        return "its worker was killed"
    return f"{type(error).__name__}: {error}"


def _workers(jobs: int) -> ProcessPoolExecutor:
    """New workers, each pinned to a core."""
    context = multiprocessing.get_context("spawn")
    free: multiprocessing.Queue[int] = context.Queue()
    available = cores()
    for number in range(jobs):
        free.put(available[number % len(available)])
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_pin, initargs=(free, os.getpid()))
