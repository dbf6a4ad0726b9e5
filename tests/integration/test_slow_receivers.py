"""A slow CPU limits the receiver that runs on it, and nobody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cambrian.kernel import locate
from cambrian.store.results import TrialResult
from cambrian.study.model import Flow
from tests.integration.boots import first_program, output
from tests.integration.conftest import RunTrials, duel, flow, valid

FAST_PATH: dict[str, Any] = {"rate_mbps": 200, "rtt_ms": 20, "seconds": 20}
SIZE_BYTES = 8_000_000
#: what a full TCP segment carries
TCP_PAYLOAD_BYTES = 1448


def slow(stack: str, **costs: float) -> Flow:
    """A transfer to a receiver with a slow CPU."""
    fast = flow(stack, "cubic", size_bytes=SIZE_BYTES)
    return Flow.model_validate(
        {"contestant": {**fast.contestant.model_dump(), "receiver_cpu": costs}, "size_bytes": SIZE_BYTES}
    )


def said(result: TrialResult, event: str, number: int = 0) -> dict[str, Any]:
    """An event of a flow's receiver."""
    events = result.manifest["endpoints"][f"flow{number}.receiver"]
    return next(told for told in events if told["event"] == event)


def receiving_s(result: TrialResult, number: int = 0) -> float:
    """From a flow's connection to its last byte, in seconds."""
    span_ns: int = said(result, "done", number)["time_ns"] - said(result, "connected", number)["time_ns"]
    return span_ns / 1e9


def test_costs_are_charged_to_those_who_cause_them_and_to_nobody_else(tmp_path: Path) -> None:
    kernel = locate.ensure()
    init = first_program("slow_cpu_check", tmp_path)
    first = output(kernel, init, tmp_path / "first")
    assert first == output(kernel, init, tmp_path / "second")
    output(kernel, init, tmp_path / "ptrace", seccomp=False)


def test_a_receiver_gets_what_its_processor_can_do_and_the_same_again(run_trials: RunTrials) -> None:
    trials = [duel(slow(stack, per_packet_us=500), **FAST_PATH) for stack in ("quinn", "tcp")]
    found = run_trials(trials)
    again = run_trials(trials, "again")
    for one, other in zip(found, again, strict=True):
        assert valid(one).manifest["packets_sha256"] == other.manifest["packets_sha256"]
    quinn, tcp = found
    # the path's share is some round trips of slow start
    datagrams = said(quinn, "stats")["datagrams_received"]
    assert receiving_s(quinn) == pytest.approx(datagrams * 500e-6, rel=0.1)
    assert receiving_s(tcp) == pytest.approx(SIZE_BYTES / TCP_PAYLOAD_BYTES * 500e-6, rel=0.1)


def test_system_calls_cost_too(run_trials: RunTrials) -> None:
    receivers = [slow("quinn", per_syscall_us=cost_us) for cost_us in (1, 20_000)]
    cheap, dear = run_trials([duel(receiver, **FAST_PATH) for receiver in receivers])
    # it reads in batches, so there are few
    assert receiving_s(valid(dear)) > 1.5 * receiving_s(valid(cheap))


def test_a_slow_receiver_delays_nobody_else(run_trials: RunTrials) -> None:
    # by then all is in the slow receiver's socket, and the network is the other flow's
    late = flow("tcp", "cubic", start_ms=3000, size_bytes=1_000_000)
    brief = flow("tcp", "cubic", size_bytes=10_000)
    beside_slow, beside_none = run_trials(
        [duel(first, late, **FAST_PATH) for first in (slow("tcp", per_packet_us=1000), brief)]
    )
    assert receiving_s(valid(beside_slow)) > 5
    assert receiving_s(beside_slow, 1) == pytest.approx(receiving_s(valid(beside_none), 1), rel=1e-4)
