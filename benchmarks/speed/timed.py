"""How many seconds a trial takes, from the plan to the finished folder of its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.speed import trials
from benchmarks.speed.counts import counts_of
from benchmarks.speed.jobs import Asked, Job, Row
from benchmarks.speed.sides import Side, SideError
from cambrian.study import cost
from cambrian.study.model import Trial


def _duels(flows: int, rate_mbps: float, full_s: float, quick_s: float, asked: Asked) -> list[Job]:
    seconds = quick_s if asked.quick else full_s
    names = asked.contestants or trials.DUELLISTS
    return [_job(name, trials.together(name, flows, rate_mbps, seconds)) for name in names]


def _pages(asked: Asked) -> list[Job]:
    names = trials.serving(asked.contestants or trials.PAGES)
    return [_job(name, trials.page_load(name)) for name in names]


def _empty(asked: Asked) -> list[Job]:
    return [_job("tcp:cubic", trials.empty())]


#: part → its jobs
JOBS: dict[str, Callable[[Asked], Sequence[Job]]] = {
    "duel-20": partial(_duels, 2, 20.0, 60.0, 20.0),
    "duel-100": partial(_duels, 2, 100.0, 20.0, 5.0),
    "flows-8": partial(_duels, 8, 20.0, 30.0, 10.0),
    "page": _pages,
    "empty": _empty,
}


def _job(name: str, trial: Trial) -> Job:
    content = trial.model_dump(mode="json")

    def work(side: Side) -> Row:
        answer = side.ask("trial", trial=content)
        # a trial in which nothing happens has nothing to be judged by
        if answer["reasons"] and trial.duration_s > trials.EMPTY_S:
            raise SideError(f"{side.name}: {name} is not valid: {'; '.join(answer['reasons'])}")
        manifest = answer["manifest"]
        counts = counts_of(manifest)
        bottleneck = manifest["guest"]["counters"]["bottleneck"][0]
        return {
            "wall_s": [round(answer["wall_s"], 3)],
            "virtual_s": manifest["guest"]["end_ns"] / 1e9,
            "packets": counts["packets"],
            "hand_overs": counts["hand_overs"],
            "drops": bottleneck["dropped_packets"],
            "sent_bytes": bottleneck["sent_bytes"],
            "packets_sha256": manifest["packets_sha256"],
        }

    return Job(name, cost.DEFAULT_SPEED.wall_s(trial), trials.stacks(trial), work)
