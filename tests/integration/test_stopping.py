"""A study that stops by itself comes to the same trials with one job, with two, and after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cambrian.run import pool
from cambrian.store.results import Results
from tests.unit import report_results

pytestmark = pytest.mark.long

# no loss: every trial alike, the least is enough; with 1 % of loss ± 0.1 Mbps is out of reach
STUDY = """
name = "stop"
title = "When is it enough?"
design = "solo"
duration_s = 6
start_spread_ms = 100
[stopping]
min_seeds = 6
max_seeds = 8
half_width_mbps = 0.1
[[network]]
rate_mbps = 10
rtt_ms = 20
buffer_bdp = 1
loss_percent = [0, 1]
[[contestant]]
stack = "tcp"
cca = "cubic"
"""
PATIENCE_S = 120


def start(study: Path, out: Path, jobs: int) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "cambrian", "run", str(study), "--out", str(out), "--jobs", str(jobs)]
    return subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def groups(out: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Results(out).study()["groups"]
    return found


def hashes(out: Path) -> list[str]:
    names = [name for group in groups(out) for name in group["trials"]]
    assert {path.name for path in (out / "trials").iterdir()} == set(names), "no trial is run in vain"
    return [Results(out).trial(name).manifest["packets_sha256"] for name in names]


def test_the_same_trials_whatever_happens_on_the_way(tmp_path: Path) -> None:
    study = tmp_path / "stop.toml"
    study.write_text(STUDY)
    one, two = tmp_path / "one", tmp_path / "two"
    _, said = start(study, one, 1).communicate(timeout=PATIENCE_S)
    clean, lossy = groups(one)
    assert (clean["stopping"]["narrow"], len(clean["trials"])) == (True, 6)
    assert (lossy["stopping"]["narrow"], len(lossy["trials"])) == (False, 8)
    assert "12 to 16 trials" in said
    assert "10mbps-20ms-1bdp/tcp-cubic: 6 seeds, median throughput 10 Mbps" in said
    assert "maximum of seeds reached, not narrow enough" in said

    broken = start(study, two, min(2, len(pool.cores())))
    deadline = time.monotonic() + PATIENCE_S
    while len(list(two.glob("trials/[0-9a-f]*/verdict.json"))) < 7 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(broken.pid, signal.SIGINT)
    broken.communicate(timeout=PATIENCE_S)
    assert len(list(two.glob("trials/[0-9a-f]*/verdict.json"))) < 14, "it was to be broken off in the middle"
    again = start(study, two, min(2, len(pool.cores())))
    again.communicate(timeout=PATIENCE_S)
    assert again.returncode == 0
    assert groups(two) == groups(one)
    assert hashes(two) == hashes(one)

    report_results.report(two, tmp_path / "report")
    table = pl.read_csv(tmp_path / "report" / "tables" / "stopping.csv")
    assert table["seeds"].to_list() == [6, 8]
    assert table["more_seeds"].is_not_null().to_list() == [False, True]
