"""A run that was killed goes on where it was, and ends with the same bytes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.integration import guests
from tests.integration.runs import hashes, start

pytestmark = pytest.mark.long

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


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "resume.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def whole(study: Path) -> dict[str, str]:
    """What a run leaves that nobody kills."""
    out = study.parent / "whole"
    assert start(study, out).wait(PATIENCE_S) == 0
    return hashes(out)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_killed_run_resumes_to_the_same_result(
    study: Path, tmp_path: Path, whole: dict[str, str], how: signal.Signals
) -> None:
    broken = tmp_path / "broken"
    run = start(study, broken)
    deadline = time.monotonic() + PATIENCE_S
    seen: set[int] = set()
    while not list(broken.glob("trials/[0-9a-f]*/verdict.json")) and time.monotonic() < deadline:
        seen |= guests.processes(broken)
        time.sleep(0.02)
    assert seen, "guests are known by their folder"
    os.kill(run.pid, how)
    _, told = run.communicate(timeout=PATIENCE_S)
    finished = len(list(broken.glob("trials/[0-9a-f]*/verdict.json")))
    assert 1 <= finished < 4, "the run was to be broken off in the middle"
    if how is not signal.SIGKILL:
        assert run.returncode == 128 + how
        assert told.endswith("cambrian: interrupted; finished trials are kept\n")
        assert not list(broken.glob("trials/.*")), "an interrupted run leaves nothing half done"
    while guests.alive(seen) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not guests.alive(seen), "no guest outlives its run"

    assert start(study, broken).wait(PATIENCE_S) == 0
    assert hashes(broken) == whole
    assert len(whole) == 4
