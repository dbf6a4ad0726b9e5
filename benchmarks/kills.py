"""Do kills change the results of a run? Each kill is a SIGKILL, at a seeded moment.

    .venv/bin/python benchmarks/kills.py [--kills 30] [--seed 1] [--trials 160] [--seconds 20]
        [--jobs N | --cluster WHERE]

One study of short trials of kernel TCP runs undisturbed. Then it runs with the given number of kills, spread
over its coordinator, its workers and its guests; only processes that descend from the run are killed. A run
whose coordinator was killed, or that left trials out, is started again. A row a kill: moment, kind, process.
At the end: the two stores by content hash, processes of the run that are still there, and temporary folders.
The exit status is 1 if anything differs or is left.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from cambrian import paths
from cambrian.store.content import content

STUDY = """
name = "kills"
title = "Short trials"
design = "solo"
duration_s = {seconds}
seeds = {seeds}
start_spread_ms = 100
[[network]]
rate_mbps = 20
rtt_ms = 40
buffer_bdp = [0.5, 1]
[[contestant]]
stack = "tcp"
cca = "cubic"
"""
#: seconds between two kills, at most; and how long a run may take to show a victim, and to end
MOST_S = 4.0
PATIENCE_S = 600.0
#: how long processes may take to follow their parent
FOLLOW_S = 20.0
KINDS = ("coordinator", "worker", "guest")


class Run:
    """One run of the study, and the processes that have descended from it."""

    def __init__(self, study: Path, out: Path, where: Sequence[str], log: Path) -> None:
        argv = [sys.executable, "-m", "cambrian", "run", str(study), "--out", str(out), *where]
        temporary = log.with_name("tmp")
        temporary.mkdir(exist_ok=True)
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=os.environ | {"TMPDIR": str(temporary)},
            )
        self.seen: set[psutil.Process] = set()

    def descendants(self) -> list[psutil.Process]:
        """All that descend from the run now."""
        with suppress(psutil.Error):
            found: list[psutil.Process] = psutil.Process(self.process.pid).children(recursive=True)
            self.seen |= set(found)
            return found
        return []

    def victims(self, kind: str) -> list[psutil.Process]:
        """The processes of a kind that run now."""
        if kind == "coordinator":
            return [psutil.Process(self.process.pid)] if self.process.poll() is None else []
        return [one for one in self.descendants() if _kind(one) == kind]


def _kind(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        words = process.cmdline()
        # bubblewrap, the guest's kernel, and one process for each program of the guest
        if process.name() in ("bwrap", "linux", "uml-userspace"):
            return "guest"
        if any("spawn_main" in word for word in words) or "distributed" in " ".join(words[:4]):
            return "worker"
    return ""


def disturbed(
    study: Path, out: Path, where: Sequence[str], log: Path, kills: Sequence[str], draw: random.Random
) -> Iterator[str]:
    """Run the study with these kills; yields a row for each, and the processes that were left."""
    began = time.monotonic()
    run = Run(study, out, where, log)
    runs = [run]
    for number, kind in enumerate(kills, 1):
        pause_s = draw.uniform(0.0, MOST_S)
        until = time.monotonic() + pause_s
        while time.monotonic() < until:
            run.descendants()
            time.sleep(0.05)
        deadline = time.monotonic() + PATIENCE_S
        while not (found := run.victims(kind)):
            if run.process.poll() == 0:
                raise SystemExit(f"all trials have ended after {number - 1} kills; give more (--trials)")
            if run.process.poll() is not None:
                # its coordinator was killed, or it left trials out: the next run does what is left
                run = Run(study, out, where, log)
                runs.append(run)
            if time.monotonic() > deadline:
                raise SystemExit(f"no {kind} to kill for {PATIENCE_S:.0f} s")
            time.sleep(0.02)
        victim = draw.choice(sorted(found, key=lambda one: one.pid))
        with suppress(psutil.Error):
            victim.send_signal(signal.SIGKILL)
            yield f"{number:3} {time.monotonic() - began:7.1f} s  {kind:12} {victim.pid}"
        if kind == "coordinator":
            run.process.wait()
    for _ in range(len(kills) + 1):
        while run.process.poll() is None:
            run.descendants()
            time.sleep(0.2)
        if run.process.returncode == 0:
            break
        run = Run(study, out, where, log)
        runs.append(run)
    yield f"{len(runs)} runs; the last one ended with {run.process.returncode}"
    yield from _left(runs)


def _left(runs: Sequence[Run]) -> Iterator[str]:
    """A row for each process of the runs that does not end."""
    seen = set().union(*(run.seen for run in runs))
    _, left = psutil.wait_procs(seen, timeout=FOLLOW_S)
    for process in left:
        with suppress(psutil.Error):
            yield f"LEFT: process {process.pid} {' '.join(process.cmdline())[:80]}"


def _folders(folder: Path, before: set[Path]) -> Iterator[str]:
    """A row for each temporary file or folder of the runs; ``before``: what Dask's folder had."""
    found = {*folder.glob("out/trials/.*"), *folder.glob("out/.study*"), *folder.glob("tmp/*")}
    yield from (f"LEFT: {path}" for path in sorted(found | (_of_workers() - before)))


def _of_workers() -> set[Path]:
    """The folders of a cluster's workers in the cache."""
    scratch = (paths.cache() / "cluster" / "dask-scratch-space").glob("*")
    return {path for path in scratch if path.name not in ("global.lock", "purge.lock")}


def main() -> None:
    """Print a row a kill, and what differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=160)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--jobs", default="0")
    parser.add_argument("--cluster")
    asked = parser.parse_args()
    where = ["--cluster", asked.cluster] if asked.cluster else ["--jobs", asked.jobs]
    draw = random.Random(asked.seed)  # noqa: S311 - a seeded order, not a secret
    kills = [KINDS[number % len(KINDS)] for number in range(asked.kills)]
    draw.shuffle(kills)
    before = _of_workers()
    with tempfile.TemporaryDirectory(prefix="kills-") as name:
        folder = Path(name)
        study, log = folder / "kills.toml", folder / "log"
        study.write_text(STUDY.format(seconds=asked.seconds, seeds=asked.trials // 2))
        whole = Run(study, folder / "whole", where, log)
        if whole.process.wait():
            raise SystemExit(log.read_text())
        expected = content(folder / "whole")
        rows = list(_told(disturbed(study, folder / "out", where, log, kills, draw)))
        found = content(folder / "out")
        rows += _told(_folders(folder, before))
        again = log.read_text().count("a trial runs again")
    differ = sorted(path for path in expected.keys() | found.keys() if expected.get(path) != found.get(path))
    for path in differ:
        print(f"DIFFERS: {path}")
    trials = sum(path.endswith("/verdict.json") for path in found)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(kills).items()))
    print(
        f"{asked.kills} kills ({kinds}), "
        f"{trials} trials, {again} tried again; {len(found)} files, {len(differ)} differ, "
        f"{sum(row.startswith('LEFT') for row in rows)} left"
    )
    if differ or any(row.startswith("LEFT") for row in rows):
        raise SystemExit(1)


def _told(rows: Iterator[str]) -> Iterator[str]:
    for row in rows:
        print(row, flush=True)
        yield row


if __name__ == "__main__":
    main()
