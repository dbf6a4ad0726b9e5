"""Long steps, told to a person: a bar with an ETA on a terminal, a plain line now and then elsewhere.

Everything goes to standard error, so that standard output stays a command's answer.
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

#: Seconds between two plain lines of the same step.
PLAIN_INTERVAL_S = 15.0
#: Share of a step that must be done before its rate says anything about its end.
ETA_FROM = 0.05


class Step(Protocol):
    """A step under way."""

    def reach(self, done: float) -> None:
        """Say how far the step is, in the unit of its total; never past the total."""

    def say(self, note: str) -> None:
        """Say what it is doing now, in a few words."""


def duration(seconds: float) -> str:
    """``m:ss`` (or ``h:mm:ss``) for a number of seconds."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, second = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{second:02d}" if hours else f"{minutes}:{second:02d}"


class _PlainStep:
    def __init__(self, title: str, total: float | None, console: Console) -> None:
        self._title, self._total, self._console = title, total, console
        self._began = self._told = time.monotonic()

    def reach(self, done: float) -> None:
        now = time.monotonic()
        if now - self._told < PLAIN_INTERVAL_S or not self._total or done <= 0:
            return
        self._told = now
        share = min(done / self._total, 1.0)
        elapsed = now - self._began
        # The first few are slow starters and would promise hours.
        left = f", about {duration(elapsed / share - elapsed)} left" if share >= ETA_FROM else ""
        self._line(f"{share:.0%} after {duration(elapsed)}{left}")

    def say(self, note: str) -> None:
        self._told = time.monotonic()
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

    ``total`` is in whatever unit :meth:`Step.reach` will use (objects, bytes, expected
    seconds); ``None`` when nobody knows, and then there is no ETA.
    """
    console = console or Console(stderr=True)
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
