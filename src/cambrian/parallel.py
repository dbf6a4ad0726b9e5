"""Applies a function to many items on all cores; shows progress and an ETA on a terminal."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
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
        # one thread per process, because the processes use all cores
        os.environ.setdefault("POLARS_MAX_THREADS", "1")
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        jobs = min(len(os.sched_getaffinity(0)), len(items))
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(
            jobs, mp_context=context, initializer=end_with, initargs=(os.getpid(),)
        ) as pool:
            with _no_main(), _no_ctrl_c():
                futures = [pool.submit(work, item) for item in items]
            # polars has its own handler for Ctrl-C around Python's, which lets a wait go on until its end
            signal.siginterrupt(signal.SIGINT, True)
            try:
                return list(_counted((future.result() for future in futures), step))
            except BaseException:
                # nobody waits for the other items. They are not cancelled: the pool would then fail to tell
                # them that its processes ended, with a traceback
                for process in list((pool._processes or {}).values()):
                    process.kill()
                raise


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
