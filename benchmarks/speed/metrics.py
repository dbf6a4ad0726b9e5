"""How long reading a trial and computing all its metrics take, for a million packets on one core.

All metrics are what a report measures: throughput, delay, loss, envelope, sharing, recovery, state machines,
every parameter.
"""

from __future__ import annotations

import sys

from benchmarks.speed import trials
from benchmarks.speed.jobs import Asked, Job, Row
from benchmarks.speed.sides import Side
from cambrian.study import cost

FULL_S, QUICK_S = 62.0, 16.0
#: of the measurement itself, for the time left
_EXPECTED_S = 2.0


def jobs(asked: Asked) -> list[Job]:
    """One trial of kernel TCP, which runs once and is measured several times."""
    trial = trials.long(QUICK_S if asked.quick else FULL_S)
    content = trial.model_dump(mode="json")
    profiled: set[str] = set()

    def work(side: Side) -> Row:
        profile = asked.profile and side.name not in profiled
        profiled.add(side.name)
        answer = side.ask("metrics", trial=content, profile=profile)
        if profile:
            print(answer["profile"], file=sys.stderr)
        per_million = 1e6 / answer["packets"]
        return {
            "packets": answer["packets"],
            "rows": answer["rows"],
            "read_s": [round(answer["read_s"] * per_million, 3)],
            "metrics_s": [round(answer["metrics_s"] * per_million, 3)],
        }

    return [
        Job(
            "tcp:cubic tcp:reno",
            cost.DEFAULT_SPEED.wall_s(trial) / 3 + _EXPECTED_S,
            trials.stacks(trial),
            work,
        )
    ]
