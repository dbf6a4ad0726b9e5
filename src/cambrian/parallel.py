"""Applies a function to many items on all cores; shows progress and an ETA on a terminal."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Item = TypeVar("Item")
Result = TypeVar("Result")

#: with fewer items this process finishes before other processes would have started
_FEWEST = 24
#: include/uapi/linux/prctl.h
_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """Let this process end with the process ``parent``, its parent, also if that is killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        # it died before the kernel knew that this process must end with it
        os._exit(1)


def mapped(
    work: Callable[[Item], Result], items: Sequence[Item], *, what: str, console: Console | None = None
) -> list[Result]:
    """``work(item)`` for each item, in order; ``work``, items and results must be picklable.

    ``work`` is of a module that can be imported, not of the program itself (``__main__``). ``what`` names the
    items in the progress bar. Exceptions of ``work`` are raised here.
    """
    with _bar(what, len(items), console or Console(stderr=True, emoji=False)) as step:
        if len(items) < _FEWEST:
            return list(_counted(map(work, items), step))
        with _workers() as pool:
            with _no_main(), _no_ctrl_c():
                futures = [pool.submit(work, item) for item in items]
            # polars has its own handler for Ctrl-C around Python's, which lets a wait go on until its end
            signal.siginterrupt(signal.SIGINT, True)
            return list(_counted((future.result() for future in futures), step))


@contextmanager
def kept_workers() -> Iterator[None]:
    """Within, the workers of one call of :func:`mapped` work for the next ones too: to start takes a second.

    For a command, which ends soon: workers without work keep their memory (:func:`end_kept`).
    """
    global _keeping  # noqa: PLW0603 - a process runs one command
    _keeping = True
    try:
        yield
    finally:
        _keeping = False
        end_kept()


_keeping = False
#: the workers of :func:`kept_workers`, and the environment that they started with
_kept: tuple[ProcessPoolExecutor, dict[str, str]] | None = None


@contextmanager
def _workers() -> Iterator[ProcessPoolExecutor]:
    """Worker processes for one :func:`mapped`; they end with it, unless they are kept."""
    global _kept  # noqa: PLW0603 - and has one pool for it
    # one thread per process, because the processes use all cores
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # the kernel ends a worker with the thread that started it
    keep = _keeping and threading.current_thread() is threading.main_thread()
    if keep and _kept and _kept[1] == os.environ and all(one.is_alive() for one in _processes(_kept[0])):
        pool = _kept[0]
    else:
        context = multiprocessing.get_context("spawn")
        jobs = len(os.sched_getaffinity(0))
        # one process an item at most
        pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=end_with, initargs=(os.getpid(),))
        if keep:
            end_kept()
            _kept = (pool, dict(os.environ))
    try:
        yield pool
    except BaseException:
        _end(pool)
        if keep:
            _kept = None
        raise
    if not keep:
        pool.shutdown()


def end_kept() -> None:
    """End the workers that are kept; a command calls this before it waits for long, or runs trials."""
    global _kept  # noqa: PLW0603
    if _kept:
        _end(_kept[0])
    _kept = None


def _end(pool: ProcessPoolExecutor) -> None:
    """End workers at once: nobody waits for their work."""
    # items are not cancelled: the pool would fail to tell them that its processes ended, with a traceback
    for process in _processes(pool):
        process.kill()
    pool.shutdown()


def _processes(pool: ProcessPoolExecutor) -> list[BaseProcess]:
    return list((pool._processes or {}).values())


@contextmanager
def _no_main() -> Iterator[None]:
    """Processes that start within do not import the program that runs.

    It may be a user's script without ``if __name__ == "__main__"``, which would then run again in each.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _no_ctrl_c() -> Iterator[None]:
    """Processes that start within do not see Ctrl-C: the terminal sends it to all, and this one ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _counted(results: Iterator[Result], step: Callable[[], None]) -> Iterator[Result]:
    for result in results:
        step()
        yield result


@contextmanager
def _bar(what: str, total: int, console: Console) -> Iterator[Callable[[], None]]:
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
