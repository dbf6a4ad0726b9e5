"""A run that was killed goes on where it was, and ends with the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cambrian.store.results import Results
from tests.integration import guests

STUDY = """
name = "resume"
title = "Four short trials"
design = "solo"
duration_s = 12
seeds = 4
start_spread_ms = 100
[[network]]
rate_mbps = 20
rtt_ms = 50
buffer_bdp = 1
loss_percent = 0.5
[[contestant]]
stack = "tcp"
cca = "cubic"
"""
PATIENCE_S = 60


def _start(study: Path, out: Path) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "cambrian", "run", str(study), "--out", str(out), "--jobs", "1"]
    return subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _hashes(out: Path) -> dict[str, str]:
    trials = sorted(path.name for path in (out / "trials").iterdir() if not path.name.startswith("."))
    return {name: Results(out).trial(name).manifest["packets_sha256"] for name in trials}


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_resumes_to_the_same_result(tmp_path: Path, how: signal.Signals) -> None:
    study = tmp_path / "resume.toml"
    study.write_text(STUDY)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert _start(study, whole).wait(PATIENCE_S) == 0

    run = _start(study, broken)
    deadline = time.monotonic() + PATIENCE_S
    seen: set[int] = set()
    while not list(broken.glob("trials/[0-9a-f]*/verdict.json")) and time.monotonic() < deadline:
        seen |= guests.processes(broken)
        time.sleep(0.02)
    assert seen, "guests are known by their folder"
    os.kill(run.pid, how)
    run.wait(PATIENCE_S)
    finished = len(list(broken.glob("trials/[0-9a-f]*/verdict.json")))
    assert 1 <= finished < 4, "the run was to be broken off in the middle"
    if how is signal.SIGINT:
        assert not list(broken.glob("trials/.*")), "Ctrl-C leaves nothing half done"
    while guests.alive(seen) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not guests.alive(seen), "no guest outlives its run"

    assert _start(study, broken).wait(PATIENCE_S) == 0
    assert _hashes(broken) == _hashes(whole)
    assert len(_hashes(whole)) == 4
