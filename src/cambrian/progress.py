"""Progress of long steps: a bar with an ETA on a terminal, otherwise a plain line at intervals.

Everything goes to standard error; standard output is for a command's results.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

#: seconds between two plain lines of the same step
PLAIN_INTERVAL_S = 15.0
#: share of a step that must be done before an ETA is shown
ETA_FROM = 0.05


class Step(Protocol):
    """A running step."""

    def reach(self, done: float) -> None:
        """Show how much is done, in the unit of the total.

        The total of a build is an estimate in seconds. Beyond it there is no ETA.
        """

    def say(self, note: str) -> None:
        """Show the current activity, in a few words."""


def duration(seconds: float) -> str:
    """``m:ss`` (or ``h:mm:ss``) for a number of seconds."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, second = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{second:02d}" if hours else f"{minutes}:{second:02d}"


class _PlainStep:
    def __init__(self, title: str, total: float | None, console: Console) -> None:
        self._title, self._total, self._console = title, total, console
        self._began = self._printed = time.monotonic()

    def reach(self, done: float) -> None:
        now = time.monotonic()
        if now - self._printed < PLAIN_INTERVAL_S or not self._total or done <= 0:
            return
        self._printed = now
        elapsed = now - self._began
        if done > self._total:
            self._line(f"still at work after {duration(elapsed)}, longer than expected")
            return
        share = done / self._total
        # the first items are slow, and would give an ETA of hours
        left = f", about {duration(elapsed / share - elapsed)} left" if share >= ETA_FROM else ""
        self._line(f"{share:.0%} after {duration(elapsed)}{left}")

    def say(self, note: str) -> None:
        self._printed = time.monotonic()
        self._line(note)

    def end(self, outcome: str) -> None:
        self._line(f"{outcome} after {duration(time.monotonic() - self._began)}")

    def _line(self, text: str) -> None:
        self._console.print(f"{self._title}: {text}", highlight=False, markup=False, soft_wrap=True)


class _BarStep:
    def __init__(self, progress: Progress, title: str, total: float | None) -> None:
        self._progress, self._title, self._total = progress, title, total
        self._task = progress.add_task(title, total=total)

    def reach(self, done: float) -> None:
        if self._total and done > self._total:
            self._progress.update(self._task, description=f"{self._title}: longer than expected")
        self._progress.update(self._task, completed=min(done, self._total) if self._total else done)

    def say(self, note: str) -> None:
        self._progress.update(self._task, description=f"{self._title}: {note}")

    def end(self, outcome: str) -> None:
        self._progress.update(self._task, description=f"{self._title}: {outcome}")
        if outcome == "done":
            self._progress.update(self._task, total=self._total or 1, completed=self._total or 1)


@contextmanager
def step(title: str, *, total: float | None = None, console: Console | None = None) -> Iterator[Step]:
    """Show one long step until the block ends.

    ``total`` is in the unit of :meth:`Step.reach` (objects, bytes, expected
    seconds); ``None`` if it is unknown; then there is no ETA.
    """
    console = console or Console(stderr=True, emoji=False)
    if console.is_terminal:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console) as progress:
            bar = _BarStep(progress, title, total)
            yield from _until_end(bar)
        return
    plain = _PlainStep(title, total, console)
    plain.say("started")
    yield from _until_end(plain)


def _until_end(shown: _BarStep | _PlainStep) -> Iterator[Step]:
    try:
        yield shown
    except BaseException:
        shown.end("failed")
        raise
    shown.end("done")
