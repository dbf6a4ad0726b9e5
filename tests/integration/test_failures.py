"""A program that dies, hangs, spins or never connects gives an invalid trial with its reason, in time."""

from __future__ import annotations

import time

import pytest

from tests.integration.conftest import RunTrials, duel, flow


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


def test_one_that_spins_is_ended_by_the_wall_clock(run_trials: RunTrials) -> None:
    began = time.monotonic()
    spinning, sound = run_trials([duel(flow("spins", "none")), duel(flow("tcp", "cubic"))], limit_s=10)
    assert time.monotonic() - began < 40
    assert not spinning.verdict["valid"]
    assert "wall-clock" in spinning.verdict["reasons"][0]
    assert sound.verdict["valid"]
