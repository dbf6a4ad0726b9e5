"""Many trials with someone watching: a bar with an ETA on a terminal, a line a trial elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

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


def run(
    trials: Mapping[str, Trial],
    made: Environment,
    results: Results,
    *,
    jobs: int,
    limit_s: float | None = None,
    console: Console,
) -> Iterator[tuple[str, Finished]]:
    """Run ``trials`` (label → trial, none of them twice); yields each with its label as it ends."""
    # the longest first, so that no core waits for one long trial at the end
    ordered = sorted(trials.items(), key=lambda item: cost.DEFAULT_SPEED.wall_s(item[1]), reverse=True)
    columns = (
        TextColumn("trials"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    labels = {id(trial): label for label, trial in ordered}
    asked = [trial for _, trial in ordered]
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(ordered))
        for number, finished in enumerate(
            pool.run(asked, made, results, jobs=jobs, limit_s=limit_s) if asked else (), start=1
        ):
            label = labels[id(finished.trial)]
            text = _line(label, finished)
            if console.is_terminal:
                progress.update(task, advance=1, description=text[:_SHOWN])
            else:
                print(f"[{number}/{len(ordered)}] {text}", file=sys.stderr, flush=True)
            yield label, finished


def _line(label: str, finished: Finished) -> str:
    outcome = finished.outcome
    if outcome is None:
        return f"{label}: failed: {finished.error}"
    state = "valid" if outcome.valid else f"INVALID: {outcome.reasons[0]}"
    return f"{label}: {outcome.wall_s:.1f} s ({outcome.speed:.0f}x real time), {state}"
