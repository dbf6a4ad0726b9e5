"""A program that dies, hangs, spins or never connects gives an invalid trial with its reason, in time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cambrian.run import pool
from tests.integration.conftest import RunTrials, duel, flow, valid


@pytest.mark.parametrize(
    ("stack", "because"),
    [
        ("dies", "ended with status 3 before it was ready"),
        ("never-ready", "was not ready within"),
        ("never-connects", "never sent a packet"),
        ("goes-away", "status 4"),
    ],
)
def test_the_reason_is_named(run_trials: RunTrials, stack: str, because: str) -> None:
    (result,) = run_trials([duel(flow(stack, "none"), flow("tcp", "cubic"))])
    assert not result.verdict["valid"]
    assert because in "; ".join(result.verdict["reasons"])


@pytest.mark.parametrize("stack", ["spins", "polls"])
def test_one_that_uses_the_processor_and_gets_nowhere_is_ended(run_trials: RunTrials, stack: str) -> None:
    sound_too = duel(flow("tcp", "cubic"), seconds=2)
    spinning, sound = run_trials([duel(flow(stack, "none")), sound_too], cpu_limit_s=3)
    assert not spinning.verdict["valid"]
    (reason, *_) = spinning.verdict["reasons"]
    assert "s of CPU time, and its clock has come to" in reason
    assert "of a trial of 6 s" in reason
    assert "Does a program poll without waiting" in reason
    assert sound.verdict["valid"]


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many programs that do nothing but use the processor."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_a_loaded_machine_invalidates_nothing(run_trials: RunTrials) -> None:
    asked = duel(flow("tcp", "cubic"), flow("quinn", "cubic", start_ms=100), seconds=3)
    (idle,) = run_trials([asked])
    with busy_loops(3 * len(pool.cores())):
        (loaded,) = run_trials([asked], "loaded")
    assert valid(loaded).manifest["packets_sha256"] == valid(idle).manifest["packets_sha256"]
