"""The progress of a run."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress

from cambrian.run import pool
from cambrian.run.pool import Finished
from cambrian.store.results import Results
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trial.carry_out import Outcome


def test_the_time_left_of_trials_that_take_minutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]

    def ended(asked: list[Trial], *_: object, **__: object) -> Iterator[Finished]:
        for number, trial in enumerate(asked):
            now_s[0] += (179.0, 1.0)[number % 2]  # two at a time
            yield Finished(trial, Outcome("", True, (), 180.0, 1.0), None, at_once=2)

    monkeypatch.setattr(pool, "run", ended)
    bars: list[Progress] = []

    class Bar(Progress):
        def __enter__(self) -> Bar:
            bars.append(self)
            return self

    monkeypatch.setattr(pool, "Progress", Bar)
    network = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)
    flow = Flow(contestant=Contestant(stack="tcp", cca="cubic"))
    trials = {
        str(seed): Trial(network=network, flows=(flow,), duration_s=60, seed=seed) for seed in range(1, 7)
    }
    console = Console(file=io.StringIO(), force_terminal=True, get_time=lambda: now_s[0])
    nothing: Any = None
    left = [
        bars[0].tasks[0].fields["left"]
        for _ in pool.run_with_progress(trials, nothing, Results(tmp_path), engine=nothing, console=console)
    ]
    assert left == ["-:--:--", "0:06:00", "0:05:59", "0:03:00", "0:01:48", "0:00:00"]
