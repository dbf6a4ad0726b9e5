"""How much faster two cores are than one, and two workers of a Dask cluster than one.

``cambrian run`` runs the same study of short trials of kernel TCP each time. It prints a line when a trial
has ended. Time counts from the moment when as many have ended as there are workers: what comes before is
the start of processes, which a study pays once.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.speed import trials
from benchmarks.speed.jobs import Asked, Found, Job, Row
from benchmarks.speed.sides import Side, SideError
from cambrian.store.content import content
from cambrian.study import cost

FULL_S, QUICK_S = 60.0, 20.0
FULL_TRIALS, QUICK_TRIALS = 16, 8
STUDY = """
name = "cores"
title = "Short trials"
design = "flows"
duration_s = {seconds}
seeds = {seeds}
[[network]]
rate_mbps = 20
rtt_ms = 50
buffer_bdp = 1
[[lineup]]
name = "duel"
[[lineup.flows]]
stack = "tcp"
cca = "cubic"
count = 2
"""
#: of the start of the command and its workers, for the time left
_START_S = 3.0


def on_cores(asked: Asked) -> list[Job]:
    """On one core of this machine, and on two."""
    return [_job(asked, f"--jobs {number}", number) for number in (1, 2)]


def on_workers(asked: Asked) -> list[Job]:
    """On one worker of a cluster on this machine, and on two."""
    return [_job(asked, f"--cluster local:{number}", number) for number in (1, 2)]


JOBS: dict[str, Callable[[Asked], list[Job]]] = {"cores": on_cores, "cluster": on_workers}


def _job(asked: Asked, where: str, workers: int) -> Job:
    seconds = QUICK_S if asked.quick else FULL_S
    count = QUICK_TRIALS if asked.quick else FULL_TRIALS
    trial_s = cost.DEFAULT_SPEED.wall_s(trials.together("tcp:cubic", 2, 20, seconds))
    work = partial(_run, STUDY.format(seconds=seconds, seeds=count), where, workers)
    return Job(where, _START_S + count * trial_s / workers, frozenset({"tcp"}), work)


def _run(study: str, where: str, workers: int, side: Side) -> Row:
    with tempfile.TemporaryDirectory(prefix="cambrian-bench-") as name:
        folder = Path(name)
        file, out = folder / "cores.toml", folder / "results"
        file.write_text(study)
        argv = [str(side.python), "-m", "cambrian", "run", str(file), "--out", str(out), *where.split()]
        began = time.monotonic()
        run = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=side.root,
            env=side.environment,
        )
        assert run.stderr is not None
        said, ends = [], []
        for line in run.stderr:
            said.append(line)
            # "[3/16] its name: 2.1 s (28x real time), valid"
            if line.startswith("["):
                ends.append(time.monotonic())
        if run.wait():
            raise SideError(f"{side.name}: {' '.join(argv)}: {''.join(said[-3:]).strip()}")
        whole_s = time.monotonic() - began
        hashes = content(out)
        hashes.pop("study.json")
    return {
        "trials": len(ends),
        "trial_s": [round(seconds_a_trial(ends, workers), 3)],
        "command_s": [round(whole_s, 2)],
        "store_sha256": hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest(),
    }


def differing(found: Found) -> list[str]:
    """A sentence if the runs left different stores."""
    rows = {name: row for part in JOBS for name, row in found.get(part, {}).items()}
    if len({row["store_sha256"] for row in rows.values()}) <= 1:
        return []
    return [f"the stores of these runs differ: {', '.join(rows)}"]


def seconds_a_trial(ends: list[float], workers: int) -> float:
    """Seconds for each further trial after every worker has ended one; ``ends`` are their moments."""
    return (ends[-1] - ends[workers - 1]) / (len(ends) - workers)
