"""Runs many trials on an engine's workers; shows a bar with an ETA on a terminal, otherwise a line per trial.

The engine is this machine (:mod:`cambrian.run.local`) or a cluster (:mod:`cambrian.cluster`). Ctrl-C ends
every guest; unfinished trials leave no files, and the next run repeats them. A trial whose worker or guest is
killed has no result: it runs again, up to :data:`TRIES` times. A full disk ends the run.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from cambrian.store.results import Results
from cambrian.study import cost
from cambrian.study.model import Trial
from cambrian.trial.boot import Disturbed
from cambrian.trial.carry_out import Outcome
from cambrian.trial.environment import Environment

#: trials submitted at a time, per worker; the others wait in this process, so that Ctrl-C discards them
_AHEAD = 2
#: how often the number of workers is looked up
_LOOK_S = 1.0
#: how often a trial is tried if the host disturbs it, and the pause before it is tried again
TRIES = 3
_PAUSE_S = 1.0
#: errors of a trial whose guest or worker the host ended
DISTURBANCES = (BrokenProcessPool, CancelledError, Disturbed)
#: errors of the results' disk, not of a trial
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
#: characters of a trial's line that are shown beside the bar
_SHOWN = 100


class EngineError(RuntimeError):
    """The engine of a run cannot run trials; the text says why and what to do."""


class Changed(EngineError):
    """A stack changed during the run: the trial that ended last would have a wrong identity.

    Arguments: the stack, and the files that changed, in words; "" if they are not known.
    """

    def __str__(self) -> str:
        """What changed, and the remedy."""
        stack, files = self.args
        what = files or "its program, its manifest or another of its files"
        return (
            f"the stack {stack} changed during the run: {what}; remedy: run the command again; "
            f"with what is there now, every trial of {stack} runs again; with what was there before, "
            "the trials that have ended are kept"
        )


@dataclass(frozen=True)
class Finished:
    """One trial that has ended: its outcome, or the error that prevented it.

    ``at_once``: how many trials could run side by side then.
    """

    trial: Trial
    outcome: Outcome | None
    error: str | None
    at_once: int = 1


def cores() -> list[int]:
    """The processors that this process may use."""
    return sorted(os.sched_getaffinity(0))


class Workers(Protocol):
    """What carries out the trials of one run: processes here, or the workers of a cluster.

    A trial that was disturbed ends with an error of :data:`DISTURBANCES`.
    """

    def places(self) -> int:
        """Trials that can run at a time, at least 1; a cluster's number changes."""

    def submit(self, trial: Trial) -> Future[Outcome]:
        """Run a trial when a worker is free; its results are in the store when the future is done."""

    def stop(self) -> None:
        """End the running guests at once; trials that have not begun do not begin."""

    def close(self) -> None:
        """End the workers' part in this run."""


class Engine(Protocol):
    """A place to run trials: :class:`cambrian.run.local.Cores`, or a cluster."""

    def begin(self, environment: Environment, results: Results, cpu_limit_s: float | None) -> Workers:
        """The workers for one run with results in ``results``."""


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
    engine: Engine,
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
        # rich takes the speed of the last 30 s alone, in which perhaps no trial ends
        TextColumn("{task.fields[left]}", style="progress.remaining"),
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
        task = progress.add_task("", total=total(), left="-:--:--")
        under_way = (
            run(asked, made, results, engine=engine, cpu_limit_s=cpu_limit_s, after=after) if asked else ()
        )
        for number, finished in enumerate(under_way, start=1):
            label = labels[id(finished.trial)]
            text = _line(label, finished)
            if console.is_terminal:
                progress.update(task, total=total(), completed=number, description=text[:_SHOWN])
                # the first of those that run side by side say nothing of how fast all of them are
                if number >= finished.at_once:
                    left_s = (progress.tasks[task].elapsed or 0.0) / number * (total() - number)
                    progress.update(task, left=str(timedelta(seconds=round(left_s))))
            else:
                print(f"[{number}/{total()}] {text}", file=sys.stderr, flush=True)
            yield label, finished


def _line(label: str, finished: Finished) -> str:
    outcome = finished.outcome
    if outcome is None:
        return f"{label}: failed: {finished.error}"
    state = "valid" if outcome.valid else f"INVALID: {outcome.reasons[0]}"
    return f"{label}: {outcome.wall_s:.1f} s ({outcome.speed:.0f}x real time), {state}"


def run(
    trials: Sequence[Trial],
    environment: Environment,
    results: Results,
    *,
    engine: Engine,
    cpu_limit_s: float | None = None,
    after: Callable[[Finished], Iterable[Trial]] = lambda _: (),
) -> Iterator[Finished]:
    """Run ``trials`` on the workers of ``engine``; yields each trial when it ends.

    ``after`` may add trials when one has ended; these run next.

    Raises:
        OSError: the disk of the results is full, read-only or faulty, or a folder is closed.
        Changed: a stack changed during the run.
    """
    waiting = list(reversed(trials))
    under_way: dict[Future[Outcome], Trial] = {}
    tries: Counter[int] = Counter()
    workers = engine.begin(environment, results, cpu_limit_s)
    try:
        while waiting or under_way:
            while waiting and len(under_way) < workers.places() * _AHEAD:
                trial = waiting.pop()
                under_way[workers.submit(trial)] = trial
            # not for ever: a cluster may have more places by then
            done, _ = wait(under_way, timeout=_LOOK_S, return_when=FIRST_COMPLETED)
            errors = {future: error_of(future) for future in done}
            for error in errors.values():
                # every other trial would fail too
                if isinstance(error, PermissionError | Changed):
                    raise error
                if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
                    raise OSError(error.errno, error.strerror, str(results.folder)) from error
            for future, error in errors.items():
                trial = under_way.pop(future)
                if _runs_again(trial, error, tries):
                    waiting.append(trial)
                    continue
                finished = replace(_finished(trial, future, error), at_once=workers.places())
                waiting += reversed(list(after(finished)))
                yield finished
    except BaseException:
        workers.stop()
        raise
    finally:
        workers.close()


def error_of(future: Future[Outcome]) -> BaseException | None:
    """Why a finished trial has no result; None if it has one."""
    return CancelledError() if future.cancelled() else future.exception()


def _runs_again(trial: Trial, error: BaseException | None, tries: Counter[int]) -> bool:
    """Was the trial disturbed by the host, and may it be tried once more? ``tries``: id(trial) → tries."""
    if not isinstance(error, DISTURBANCES):
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
    if isinstance(error, DISTURBANCES):
        return Finished(trial, None, f"tried {TRIES} times; the last time, {_in_words(error)}")
    return Finished(trial, None, _in_words(error))


def _in_words(error: BaseException) -> str:
    if isinstance(error, Disturbed):
        return str(error)
    if isinstance(error, DISTURBANCES):
        return "its worker was killed"
    return f"{type(error).__name__}: {error}"
