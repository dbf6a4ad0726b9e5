"""What tells a flow that gave up from a program that failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cambrian.metrics.gates import Closing, FlowFacts, Gate, TrialFacts
from cambrian.metrics.gates.flows import endpoint_gate
from cambrian.metrics.gates.link import trace_link_gate
from cambrian.study.model import Trial
from cambrian.trace.endpoint_events import Programs
from cambrian.trial import validate

S = 1_000_000_000
ZERO_NS = 1_800_000_000 * S
LINK = {"rate_mbps": 20, "rtt_ms": 50, "buffer_bdp": 1}
NETEM = {"kind": "netem", "sent_packets": 90, "backlog_packets": 0, "dropped_packets": 10}
TIMED_OUT = {"event": "done", "bytes": 5000, "complete": False, "error": "idle timeout"}
CONNECTED = {"event": "connected", "time_ns": ZERO_NS + S}


def whole(
    raw: Path,
    receiver: dict[str, Any],
    said: list[dict[str, Any]] | None = None,
    *,
    done_s: float = 12,
    network: dict[str, Any] | None = None,
    problems: list[str] | None = None,
    stderr: str = "connection lost\n",
    end_s: float = 60,
    size_bytes: int = 0,
) -> TrialFacts:
    """Of a trial of ``end_s`` and one flow whose sender ended as it was told to."""
    lines = [event | {"time_ns": ZERO_NS + round(done_s * S)} for event in said or []]
    (raw / "flow0.receiver.out").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (raw / "flow0.receiver.err").write_text(stderr)
    trial = Trial.model_validate(
        {
            "network": network or LINK,
            "flows": [{"contestant": {"stack": "quinn", "cca": "cubic"}, "size_bytes": size_bytes}],
            "duration_s": 60,
            "seed": 1,
        }
    )
    report: Any = {
        "zero_ns": ZERO_NS,
        "end_ns": round(end_s * S),
        "base_rtt_ns": [50_000_000],
        "problems": problems or [],
        "processes": {
            "flow0.sender": {"status": -15, "started_ns": 0, "ended_ns": 61 * S, "stopped": True},
            "flow0.receiver": {"started_ns": 0, "stopped": receiver["ended_ns"] > 60 * S} | receiver,
        },
        "counters": {"flows": [{"forward": [NETEM], "back": [NETEM]}]},
    }
    plan: Any = {"bottleneck": {"limit_bytes": 125_000}, "flows": [{"sender": {}, "receiver": {}}]}
    return validate.facts(trial, report, plan, Programs(raw))


def facts(*arguments: Any, **more: Any) -> FlowFacts:
    """Of the flow of :func:`whole`."""
    return whole(*arguments, **more).flows[0]


def program_is_at_fault(flow: FlowFacts) -> bool:
    return endpoint_gate(flow.label, flow.exit_status, error=flow.error).ok is False


def test_a_program_that_reports_the_end_of_its_connection_has_not_failed(tmp_path: Path) -> None:
    flow = facts(tmp_path, {"status": 1, "ended_ns": 12 * S}, [CONNECTED, TIMED_OUT])
    assert flow.closing == Closing(12 * S, "its receiver said: idle timeout")
    assert flow.connected
    assert not program_is_at_fault(flow)


def test_what_ends_with_the_trial_is_no_fault(tmp_path: Path) -> None:
    # a client that writes no events cannot say that it has all the bytes of a flow of fixed size
    quits = {"status": 0, "ended_ns": 5 * S}
    assert not program_is_at_fault(facts(tmp_path, quits, end_s=5, size_bytes=10**6))
    log = [{"event": "fetch started", "level": "info"}]
    assert not program_is_at_fault(facts(tmp_path, quits, log, end_s=5, size_bytes=10**6))
    assert program_is_at_fault(facts(tmp_path, quits, [CONNECTED], end_s=5, size_bytes=10**6))
    assert program_is_at_fault(facts(tmp_path, quits, end_s=5))
    # its peer was stopped first
    peer_ended: Any = {"status": 1, "ended_ns": 60.7 * S, "stopped": False}
    assert validate._status(peer_ended, 60 * S, (0, 1)) == 0
    assert validate._status(peer_ended, 60 * S, (0,)) == 1
    assert validate._status(peer_ended | {"status": -9}, 60 * S, (0, 1)) == -9


@pytest.mark.parametrize("status", [-11, -6, -9, 101, 2, 127, 3])
def test_a_crash_is_a_fault_whatever_was_said_before(tmp_path: Path, status: int) -> None:
    flow = facts(tmp_path, {"status": status, "ended_ns": 12 * S}, [CONNECTED, TIMED_OUT])
    assert program_is_at_fault(flow)
    assert "connection lost" in (flow.error or "")


def test_an_exit_status_alone_is_a_fault(tmp_path: Path) -> None:
    assert program_is_at_fault(facts(tmp_path, {"status": 1, "ended_ns": 12 * S}, [CONNECTED]))
    assert program_is_at_fault(facts(tmp_path, {"status": 1, "ended_ns": 12 * S}))


def test_one_that_ends_by_itself_without_a_word_is_at_fault(tmp_path: Path) -> None:
    flow = facts(tmp_path, {"status": 0, "ended_ns": 12 * S}, [CONNECTED])
    assert program_is_at_fault(flow)
    assert "flow0.receiver ended by itself at 12.000 s" in (flow.error or "")


@pytest.mark.parametrize("status", [-9, -15, 0])
def test_only_what_was_stopped_has_ended_by_our_signal(tmp_path: Path, status: int) -> None:
    """The end of the last receiver is the end of the trial, so its time does not tell them apart."""
    killed = {"status": status, "ended_ns": 5 * S, "stopped": False}
    assert program_is_at_fault(facts(tmp_path, killed, [CONNECTED], end_s=5))
    stopped = {"status": status, "ended_ns": 5 * S + 1, "stopped": True}
    assert not program_is_at_fault(facts(tmp_path, stopped, [CONNECTED], end_s=5))


def test_the_last_receiver_may_say_that_it_gave_up(tmp_path: Path) -> None:
    flow = facts(tmp_path, {"status": 1, "ended_ns": 5 * S}, [CONNECTED, TIMED_OUT], done_s=5, end_s=5)
    assert flow.closing == Closing(5 * S, "its receiver said: idle timeout")
    assert not program_is_at_fault(flow)


def test_one_that_was_never_ready_is_at_fault(tmp_path: Path) -> None:
    problem = "flow0.receiver was not ready within 20 s (waited for: json)"
    flow = facts(tmp_path, {"status": -15, "ended_ns": 61 * S}, [CONNECTED], problems=[problem])
    assert program_is_at_fault(flow)


def test_the_status_is_that_of_the_program_that_was_not_ready(tmp_path: Path) -> None:
    problem = "flow0.receiver ended with status 0 before it was ready"
    flow = facts(tmp_path, {"status": 0, "ended_ns": -S}, problems=[problem])
    gate = endpoint_gate(flow.label, flow.exit_status, error=flow.error)
    assert gate.ok is False
    assert "ended with status 0 (flow0.receiver ended with status 0 before" in gate.text


def test_a_program_that_could_not_be_started_is_no_unsupported_one(tmp_path: Path) -> None:
    problem = "flow0.receiver ended with status 127 before it was ready"
    said = "run_as: /no/such/program: No such file or directory\n"
    flow = facts(tmp_path, {"status": 127, "ended_ns": -S}, problems=[problem], stderr=said)
    gate = endpoint_gate(flow.label, flow.exit_status, error=flow.error)
    assert gate.ok is False
    assert "flow0.receiver could not be started: /no/such/program: No such file or directory; " in gate.text
    assert "does not support" not in gate.text


def test_the_cause_is_the_first_reason() -> None:
    names = ["saturation", "premature end", "CCA", "endpoint"]
    failed = [Gate(name, False, None, None, name) for name in names]
    passed = [Gate(name, True, None, None, name) for name in names]
    order = [gate.name for gate in sorted([*passed, *failed], key=validate._rank)]
    assert order == ["endpoint", "premature end", *names, "saturation", "CCA"]


def test_what_a_program_says_when_it_is_told_to_end_is_no_end_of_its_own(tmp_path: Path) -> None:
    flow = facts(tmp_path, {"status": 1, "ended_ns": 12 * S}, [CONNECTED, TIMED_OUT], done_s=60.4)
    assert flow.closing is None
    ended_by_us = facts(tmp_path, {"status": 0, "ended_ns": 61 * S}, [CONNECTED, TIMED_OUT], done_s=60.4)
    assert (ended_by_us.closing, program_is_at_fault(ended_by_us)) == (None, False)


@pytest.mark.parametrize("stats", [{"rwnd_limited_us": 0}, {"rwnd_limited_us": None, "busy_us": 7}])
def test_counters_of_the_window_that_are_not_there_are_not_judged(
    tmp_path: Path, stats: dict[str, int | None]
) -> None:
    (tmp_path / "flow0.sender.out").write_text(json.dumps({"event": "stats", **stats}) + "\n")
    trial = Trial.model_validate(
        {"network": LINK, "flows": [{"contestant": {"stack": "tcp", "cca": "cubic"}}], "duration_s": 60}
    )
    counters: Any = {"flows": [{}], "receiver": {"snmp": {"Udp": {"RcvbufErrors": 0}}}}
    gates = validate._counter_gates(trial, counters, Programs(tmp_path))
    assert [gate.name for gate in gates] == ["receive buffer"]


@pytest.mark.parametrize(
    ("status", "said", "ok"),
    [
        (0, '{"event": "done", "overflowed_packets": 0}', True),
        (0, '{"event": "done", "overflowed_packets": 3}', False),
        (0, '{"event": "done", "overflowed_packets": null}', False),
        (0, '{"event": "ready"}', False),
        (1, '{"event": "done", "overflowed_packets": 0}', False),
    ],
)
def test_the_program_of_a_trace_must_have_seen_every_packet(
    tmp_path: Path, status: int, said: str, ok: bool
) -> None:
    (tmp_path / "tracelink.out").write_text(said + "\n")
    report: Any = {"processes": {"tracelink": {"status": status}}}
    assert trace_link_gate(validate._overflowed(report, Programs(tmp_path))).ok is ok


def test_who_speaks_the_contract_says_whether_it_connected(tmp_path: Path) -> None:
    running = {"status": -15, "ended_ns": 61 * S}
    assert facts(tmp_path, running, [{"event": "ready", "role": "client"}]).connected is False
    assert facts(tmp_path, running, [{"event": "progress", "bytes": 10}]).connected is True
    assert facts(tmp_path, running).connected is None


def test_losses_count_only_where_the_link_was_told_to_lose(tmp_path: Path) -> None:
    running = {"status": -15, "ended_ns": 61 * S}
    assert facts(tmp_path, running).random_losses == 0
    assert facts(tmp_path, running, network=LINK | {"loss_percent": 1}).random_losses == 10
    both = LINK | {"loss_percent": 1, "return_loss_percent": 1}
    assert facts(tmp_path, running, network=both).random_losses == 20


def test_the_order_of_events_is_known_less_exactly_on_the_link_of_a_trace(tmp_path: Path) -> None:
    """Its program shares the guest's processor with a browser, and sends up to a millisecond late."""
    trace = tmp_path / "two.trace"
    trace.write_text("1\n1\n2\n")
    link = {"trace_file": str(trace), "rtt_ms": 50, "buffer_bytes": 150_000}
    of_trace = whole(tmp_path, {"status": 0, "ended_ns": 61 * S}, network=link)
    assert (of_trace.slack_ns, of_trace.limit.one_in_transit) == (1_000_000, True)
    of_rate = whole(tmp_path, {"status": 0, "ended_ns": 61 * S})
    assert (of_rate.slack_ns, of_rate.limit.one_in_transit) == (1_000, False)
