"""The most memory of the machine that a trial takes: its guest with all its programs.

A guest's memory is a file that its processes map. A page of it counts once, whoever maps it
(the proportional set size of ``/proc/PID/smaps_rollup``, summed over the guest's processes), and the guest
never gives one back, so looking now and then finds the largest sum.
"""

from __future__ import annotations

import threading
from contextlib import suppress

import psutil

from benchmarks.speed import trials
from benchmarks.speed.jobs import Asked, Job, Row
from benchmarks.speed.sides import Side, SideError
from cambrian.study import cost
from cambrian.study.model import Trial

#: how often the guest is looked at
_LOOK_S = 0.1
FULL_S, QUICK_S = 60.0, 10.0


def jobs(asked: Asked) -> list[Job]:
    """Duels, and page loads with a browser in the guest."""
    seconds = QUICK_S if asked.quick else FULL_S
    duels = [
        _job(f"duel-20, {name}", trials.together(name, 2, 20, seconds))
        for name in asked.contestants or trials.DUELLISTS
    ]
    pages = [
        _job(f"page, {name}", trials.page_load(name))
        for name in trials.serving(asked.contestants or trials.PAGES)
    ]
    return duels + pages


def _job(row: str, trial: Trial) -> Job:
    content = trial.model_dump(mode="json")

    def work(side: Side) -> Row:
        with Watch(side.pid) as watch:
            answer = side.ask("trial", trial=content)
        if answer["reasons"]:
            raise SideError(f"{side.name}: {row} is not valid: {'; '.join(answer['reasons'])}")
        return {"peak_mib": [round(watch.peak_bytes / 2**20, 1)]}

    return Job(row, cost.DEFAULT_SPEED.wall_s(trial), trials.stacks(trial), work)


class Watch:
    """Looks at the descendants of a process until the block ends."""

    def __init__(self, pid: int) -> None:
        self._top = psutil.Process(pid)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.peak_bytes = 0

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_LOOK_S):
            self.peak_bytes = max(self.peak_bytes, self._now_bytes())

    def _now_bytes(self) -> int:
        total = 0
        with suppress(psutil.Error):
            for process in self._top.children(recursive=True):
                with suppress(psutil.Error):
                    total += process.memory_full_info().pss
        return total
