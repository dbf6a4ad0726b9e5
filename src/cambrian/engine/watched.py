"""Many trials with someone watching: a bar with an ETA on a terminal, a line a trial elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
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

from cambrian.engine import pool
from cambrian.engine.environment import Environment
from cambrian.engine.pool import Finished
from cambrian.store.results import Results
from cambrian.study import cost
from cambrian.study.model import Trial

#: what of a trial's line fits beside the bar
_SHOWN = 100


class Supply(Protocol):
    """Where trials come from whose number is not known beforehand."""

    def after(self, finished: Finished) -> Mapping[str, Trial]:
        """Label → trial of what is to run now that this one has ended."""

    def at_most(self) -> int:
        """How many trials the run may come to, those that have ended included."""


def run(
    trials: Mapping[str, Trial],
    made: Environment,
    results: Results,
    *,
    jobs: int,
    cpu_limit_s: float | None = None,
    console: Console,
    supply: Supply | None = None,
) -> Iterator[tuple[str, Finished]]:
    """Run ``trials`` (label → trial, none of them twice); yields each with its label as it ends.

    ``supply`` may ask for more as trials end. The bar then counts towards the most that may come,
    so that its time left is an upper bound, and both fall as less turns out to be needed.
    """
    # the longest first, so that no core waits for one long trial at the end
    ordered = sorted(trials.items(), key=lambda item: cost.DEFAULT_SPEED.wall_s(item[1]), reverse=True)
    columns = (
        TextColumn("trials"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left" if supply is None else "left at most"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    labels = {id(trial): label for label, trial in ordered}
    asked = [trial for _, trial in ordered]

    def total() -> int:
        return len(labels) if supply is None else supply.at_most()

    def after(finished: Finished) -> Iterable[Trial]:
        more = supply.after(finished) if supply is not None else {}
        labels.update({id(trial): label for label, trial in more.items()})
        return more.values()

    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total())
        under_way = (
            pool.run(asked, made, results, jobs=jobs, cpu_limit_s=cpu_limit_s, after=after) if asked else ()
        )
        for number, finished in enumerate(under_way, start=1):
            label = labels[id(finished.trial)]
            text = _line(label, finished)
            if console.is_terminal:
                # update() would forget the speed, and the time left with it, whenever the total falls
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
