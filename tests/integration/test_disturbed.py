"""The host's troubles are no result of a trial: it runs again, and the results are the same."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from cambrian.store.results import Results
from tests.integration import guests
from tests.integration.runs import hashes, start

pytestmark = pytest.mark.long

STUDY = """
name = "disturbed"
title = "Two short trials"
design = "solo"
duration_s = 40
seeds = 2
start_spread_ms = 100
[[network]]
rate_mbps = 20
rtt_ms = 50
buffer_bdp = 1
[[contestant]]
stack = "tcp"
cca = "cubic"
"""
PATIENCE_S = 120


def _wait_for(what: Callable[[], list[int]]) -> list[int]:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.01)
    raise AssertionError("nothing to disturb")


def _kill_a_program(out: Path) -> list[int]:
    """Kill the newest program of a guest that runs some: it belongs to the trial, not to the testbed.

    The guest stands still meanwhile. Its programs live for less than a second: on a busy machine the one that
    was found could be gone before it is killed.
    """
    for kernel in guests.kernels(out):
        with suppress(ProcessLookupError):
            os.kill(kernel, signal.SIGSTOP)
            try:
                if found := guests.programs(out)[3:]:
                    os.kill(found[-1], signal.SIGKILL)
                    return found[-1:]
            finally:
                os.kill(kernel, signal.SIGCONT)
    return []


def _hashes(out: Path) -> dict[str, str]:
    """As :func:`hashes`, of trials that must all be valid."""
    found = hashes(out)
    assert all(Results(out).trial(name).verdict["valid"] for name in found)
    return found


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "disturbed.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def undisturbed(study: Path) -> dict[str, str]:
    out = study.parent / "whole"
    run = start(study, out)
    _, said = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, said
    return _hashes(out)


@pytest.mark.parametrize("victim", ["guest", "program", "wall", "worker"])
def test_a_killed_part_of_a_run_costs_its_trial_another_try(
    study: Path, tmp_path: Path, undisturbed: dict[str, str], victim: str
) -> None:
    # a killed program may have done its work: then nothing has to run again, and another run is tried
    outs = [tmp_path / f"out{number}" for number in range(5 if victim == "program" else 1)]
    assert any("a trial runs again: " in _disturbed(study, out, victim, undisturbed) for out in outs)


def _disturbed(study: Path, out: Path, victim: str, undisturbed: dict[str, str]) -> str:
    """What a run said that lost this part and has the same trials."""
    run = start(study, out)
    if victim == "program":
        _wait_for(lambda: _kill_a_program(out))
    else:
        if victim == "worker":
            _wait_for(lambda: guests.kernels(out))
            found = guests.workers(run.pid)
        elif victim == "guest":
            found = _wait_for(lambda: guests.kernels(out))
        else:
            found = [min(_wait_for(lambda: list(guests.processes(out))))]
        os.kill(found[0], signal.SIGKILL)
    _, said = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, said
    assert _hashes(out) == undisturbed
    assert not list((out / "trials").glob(".*"))
    return said


def test_workers_end_with_a_run_that_is_killed_while_theystart(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = start(study, out)
    started = set(_wait_for(lambda: guests.workers(run.pid)))
    run.kill()
    run.communicate(timeout=PATIENCE_S)
    deadline = time.monotonic() + 10
    while guests.alive(started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not guests.alive(started)


def test_a_signal_to_the_coordinator_alone_ends_the_run_soon(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = start(study, out)
    _wait_for(lambda: guests.kernels(out))
    began = time.monotonic()
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 130
    # the trial under way is ended, and the next one does not begin
    assert time.monotonic() - began < 10
    assert len(list((out / "trials").glob("*"))) < 2
    assert not list((out / "trials").glob(".*"))


@pytest.mark.skipif(
    os.geteuid() != 0, reason="a closed folder of another user stops the machine's root alone"
)
def test_a_closed_folder_ends_the_run_and_is_no_result(study: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    os.chown(closed, 65534, 65534)
    run = start(study, closed / "out")
    _, said = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 2
    assert f"chmod o+x {closed}" in said
    assert hashes(closed / "out") == {}


def test_a_wall_that_cannot_be_made_is_no_result(study: Path, tmp_path: Path) -> None:
    out, program = tmp_path / "out", tmp_path / "bwrap"
    # it stands when it is tried, and fails around a guest
    fails = 'case "$*" in *--json-status-fd*) set -- --no-such-option ;; esac'
    program.write_text(f'#!/bin/sh\n{fails}\nexec {shutil.which("bwrap")} "$@"\n')
    program.chmod(0o755)
    run = start(study, out, path=f"{tmp_path}:{os.environ['PATH']}")
    _, said = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 1
    assert "the wall could not be made: bwrap: Unknown option --no-such-option" in said
    assert hashes(out) == {}
