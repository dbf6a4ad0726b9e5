"""The page's files of trials over time: one for each trial, and one for each group with all its seeds.

A page opened from disk cannot fetch; it loads these as scripts, when they are wanted. Each calls
``cambrian(NAME, DATA)``.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cambrian.metrics.columns import NS_PER_S
from cambrian.report import series
from cambrian.report.collect import Cell, Collected
from cambrian.report.figures import colours
from cambrian.report.kept import kept, key_of_trial
from cambrian.report.series import Timeline
from cambrian.store.results import TrialResult
from cambrian.study.limits import bdp_bytes

_MADE_BY = ("cambrian.report.series",)
#: bytes of a study's trials over time
_MOST_BYTES = 15_000_000
#: a single trial gets no more
_MOST_BYTES_OF_A_TRIAL = 100_000


@dataclass(frozen=True)
class _Task:
    folder: Path
    flows: int
    duration_s: float
    most_bytes: int
    coarse_step_ns: int


def of(collected: Collected) -> dict[str, Timeline]:
    """Trial's identity → its series, for each valid trial."""
    trials = {trial.id: (trial, cell) for cell in collected.cells for trial in cell.trials}
    most = min(_MOST_BYTES // max(len(trials), 1), _MOST_BYTES_OF_A_TRIAL)
    tasks = [
        _Task(one.folder, len(one.flows), one.shown_s, most, series.coarse_step_ns(cell.shown_s))
        for one, cell in trials.values()
    ]
    items = [(key_of_trial(task.folder, _MADE_BY, *astuple(task)[1:]), task) for task in tasks]
    made = kept(_one, items, what="trials over time")
    return {timeline.trial_id: timeline for timeline in made}


def _one(key: str, task: _Task) -> Timeline:
    del key
    return series.read(
        TrialResult(task.folder),
        flow_count=task.flows,
        duration_s=task.duration_s,
        most_bytes=task.most_bytes,
        coarse_step_ns=task.coarse_step_ns,
    )


def write(collected: Collected, timelines: dict[str, Timeline], folder: Path) -> None:
    """Write ``TRIAL.js`` and ``group-NUMBER.js`` to ``folder``."""
    for name, timeline in timelines.items():
        script(folder / f"{name}.js", timeline.packed)
    for number, cell in enumerate(collected.cells, 1):
        if cell.trials:
            script(folder / f"group-{number}.js", _spread(cell, timelines))


def script(path: Path, data: object) -> None:
    """A file that gives the page ``data`` under the file's name."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    path.write_text(f"cambrian({json.dumps(path.name)},{text})\n", encoding="utf-8")


def kinds() -> list[dict[str, Any]]:
    """What the page knows of each series."""
    return [
        {
            "name": kind.name,
            "heading": kind.heading,
            "unit": kind.unit,
            "meaning": kind.meaning,
            "joins": kind.joins,
            "flows": kind.of_flows,
        }
        for kind in series.KINDS
    ]


def groups(collected: Collected) -> dict[str, dict[str, Any]]:
    """Group's key → what the page says of it, and its trials in order of seed."""
    palette = colours.palette(collected)
    sections = {network.name: f"network-{number}" for number, network in enumerate(collected.networks, 1)}
    return {
        cell.key: {
            "file": f"group-{number}.js",
            "title": cell.title,
            "network": cell.network.name,
            "section": sections[cell.network.name],
            "flows": _flows(cell, palette),
            "trials": [
                {"id": trial.id, "seed": trial.trial.seed, "end_s": trial.shown_s} for trial in cell.trials
            ],
            "limits": _limits(cell),
        }
        | ({} if cell.records else {"run": collected.raw["command"]})
        for number, cell in enumerate(collected.cells, 1)
    }


def _flows(cell: Cell, palette: dict[str, str]) -> list[dict[str, Any]]:
    """Each flow's name, colour and dash: no line relies on its colour alone."""
    counts, seen = Counter(cell.names), Counter[str]()
    found = []
    for number, name in enumerate(cell.names):
        found.append(
            {
                "name": name if counts[name] == 1 else f"{name} (flow {number})",
                "colour": colours.tint(palette[name]) if seen[name] else palette[name],
                "dash": list(colours.DASHES[number % len(colours.DASHES)]),
            }
        )
        seen[name] += 1
    return found


def _limits(cell: Cell) -> dict[str, dict[str, Any]]:
    """Series → a value that its panel marks with a dashed line."""
    network = cell.network
    found: dict[str, dict[str, Any]] = {}
    if network.rate_mbps is not None and not network.schedule:
        found["throughput_mbps"] = {"value": network.rate_mbps, "words": "link"}
        kb = bdp_bytes(network.rate_mbps, network.rtt_ms) / 1000
        found["cwnd_kb"] = found["in_flight_kb"] = {"value": kb, "words": "BDP"}
    if cell.buffer_bytes:
        found["queue_kb"] = {"value": cell.buffer_bytes / 1000, "words": "buffer"}
    return found


def _spread(cell: Cell, timelines: dict[str, Timeline]) -> dict[str, Any]:
    """Over all trials: each flow's least, quartiles and largest throughput in each coarse step."""
    rows = [timelines[trial.id].coarse_mbps for trial in cell.trials]
    # page loads end at different times
    steps = min(len(one[0]) for one in rows)
    values = np.array([[flow[:steps] for flow in one] for one in rows])
    spread = np.quantile(values, [0, 0.25, 0.5, 0.75, 1], axis=0).round(3)
    return {
        "trials": len(rows),
        "step_s": series.coarse_step_ns(cell.shown_s) / NS_PER_S,
        "mbps": spread.tolist(),
    }
