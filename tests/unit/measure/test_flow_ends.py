"""Figures of a flow's life end with the flow, not with its programs or its stack's log."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cambrian.judging.families import Family
from cambrian.judging.flow_traces import flow_traces
from cambrian.measure import flow_ends, machines, measuring, recovery
from cambrian.measure.flow_window import FlowWindow, TrialWindow
from cambrian.store.results import TrialResult
from cambrian.study.model import Trial
from cambrian.trace.schema import TRANSPORT
from tests.unit import report_results

S = 1_000_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A trial of two kernel TCP flows."""
    trials = sorted((report_results.KNOBS / "trials").iterdir())
    return Path(shutil.copytree(trials[0], tmp_path / trials[0].name))


def change(folder: Path, **flow: Any) -> tuple[TrialResult, Trial]:
    """Make the first flow one of a stack whose log goes on for 4 s after its last ACK, at 1 s."""
    rows = [
        {"flow": 0, "time_ns": at_ns, "event": event, "cwnd_bytes": 14000, "in_flight_bytes": 14000}
        for at_ns, event in ((0, "start"), (S // 2, "ack"), (S, "ack"), (2 * S, "pto"), (5 * S, "pto"))
    ]
    pl.DataFrame(rows, schema=TRANSPORT).write_parquet(folder / "transport.parquet")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["trial"]["flows"][0] |= flow
    done = {"event": "done", "bytes": 10**6, "complete": True, "time_ns": manifest["guest"]["zero_ns"] + S}
    manifest["endpoints"] = {
        "flow0.receiver": [done] if flow else [],
        "flow0.sender": [{"event": "stats", "packets_sent": 900, "packets_lost": 0, "ptos": 2}],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return TrialResult(folder), Trial.model_validate(manifest["trial"])


def test_a_flow_that_ended_before_it_is_measured_has_no_window(folder: Path) -> None:
    result, trial = change(folder)
    verdict = json.loads((folder / "verdict.json").read_text())
    verdict["flows"] = [{"flow": 0, "outcome": "gave up", "ended_s": 1.0}]
    (folder / "verdict.json").write_text(json.dumps(verdict))
    for from_s, known in ((0, True), (2, False)):
        whole = TrialWindow(result, trial, (from_s * S, 5 * S), (), ("tcp", "tcp"))
        window = FlowWindow(whole, 0)
        assert (window.window_use is not None, window.window_unused_percent is not None) == (known, known)


def test_a_complete_flow_ends_before_its_log(folder: Path) -> None:
    result, trial = change(folder, size_bytes=10**6)
    assert flow_ends.end_ns(result, 0) == S
    machine = machines.flow_machines(result, trial)[0]
    assert machine is not None
    assert (machine.span_ns, machine.shares.get("tail_loss_probe", 0)) == (S, 0)
    found = recovery.flow_recoveries(result, trial)[0]
    assert found is not None and found.timeouts == 0
    # a BBR's usual rate is that of its life: the idle time after it made a ProbeRTT of 0.5 BDP one of 9
    trace = flow_traces(result, [Family("bbr", "quic"), None])[0]
    assert trace is not None and trace.end_ns == S


def test_a_flow_that_was_complete_after_the_trials_end_has_no_times(folder: Path) -> None:
    change(folder, size_bytes=10**6)
    manifest = json.loads((folder / "manifest.json").read_text())
    late_ns = manifest["guest"]["zero_ns"] + manifest["guest"]["end_ns"] + 1
    manifest["endpoints"]["flow0.receiver"][0]["time_ns"] = late_ns
    (folder / "manifest.json").write_text(json.dumps(manifest))
    result = TrialResult(folder)
    assert flow_ends.done_ns(result, 0) is None
    assert flow_ends.end_ns(result, 0) == manifest["guest"]["end_ns"]


@pytest.mark.parametrize(("size_bytes", "has_time"), [(10**6, True), (2 * 10**6, False)])
def test_a_flow_of_another_size_than_requested_ends_but_has_no_time(
    folder: Path, size_bytes: int, has_time: bool
) -> None:
    result, trial = change(folder, size_bytes=size_bytes)
    window = measuring.trial_window(result, trial)
    # what leaves the bottleneck after the flow's end is of no span
    assert (window.packets["departure_ns"] > S).any()
    assert window.spans_ns[0][1] <= S + 1
    assert (measuring.flow_measures(window)[0]["fetch_s"] is not None) is has_time
    found = recovery.flow_recoveries(result, trial)[0]
    assert found is not None and (found.tail is not None) is has_time


@pytest.mark.parametrize(
    ("contestant", "is_known"),
    [({"tls": False}, True), ({"tls": True}, False), ({"tls": False, "stack": "tcp-h2"}, False)],
)
def test_only_a_kernels_own_stream_has_known_headers(
    folder: Path, contestant: dict[str, Any], is_known: bool
) -> None:
    result, trial = change(folder)
    counted = result.manifest["guest"]["counters"]["flows"][0]
    counted["snmp"] = {"Tcp": {"OutSegs": 900, "RetransSegs": 0}}
    first = trial.flows[0]
    first = first.model_copy(update={"contestant": first.contestant.model_copy(update=contestant)})
    changed = trial.model_copy(update={"flows": [first, *trial.flows[1:]]})
    assert (recovery._facts(result, changed, 0).header_bytes is not None) is is_known


@pytest.mark.parametrize(
    ("counted", "connections"),
    [
        ({"PassiveOpens": 4, "ActiveOpens": 0}, 4),
        ({"PassiveOpens": 1, "ActiveOpens": 3}, 3),
        ({"PassiveOpens": 0, "ActiveOpens": 0}, None),
        ({}, None),
    ],
)
def test_the_kernel_counts_a_senders_tcp_connections(
    folder: Path, counted: dict[str, int], connections: int | None
) -> None:
    result, trial = change(folder)
    result.manifest["guest"]["counters"]["flows"][0]["snmp"] = {"Tcp": {"OutSegs": 0, **counted}}
    window = measuring.trial_window(result, trial)
    assert measuring.flow_measures(window)[0]["tcp_connections"] == connections


@pytest.mark.parametrize(
    ("there", "back", "percent"),
    [
        (2_000_000, 8_000_000, 400.0),
        (100_000_000, 2_000_000, 2.0),
        (100, 999_999, None),
        (0, 2_000_000, None),
    ],
)
def test_more_from_the_client_than_from_the_server_is_above_100_percent(
    folder: Path, there: int, back: int, percent: float | None
) -> None:
    result, trial = change(folder)
    counted = result.manifest["guest"]["counters"]["flows"][0]
    for way, sent in (("forward", there), ("back", back)):
        next(row for row in counted[way] if row["kind"] == "netem")["sent_bytes"] = sent
    window = measuring.trial_window(result, trial)
    assert measuring.flow_measures(window)[0]["back_percent"] == percent


def test_an_endless_flow_lasts_until_the_trials_end(folder: Path) -> None:
    result, trial = change(folder)
    assert flow_ends.end_ns(result, 0) == result.manifest["guest"]["end_ns"]
    machine = machines.flow_machines(result, trial)[0]
    assert machine is not None
    assert (machine.span_ns, machine.shares["tail_loss_probe"] > 0.5) == (flow_ends.end_ns(result, 0), True)
    found = recovery.flow_recoveries(result, trial)[0]
    assert found is not None and found.timeouts == 2


def test_a_flow_that_ended_early_ends_there(folder: Path) -> None:
    change(folder)
    verdict = json.loads((folder / "verdict.json").read_text())
    verdict["flows"] = [{"flow": 0, "outcome": "gave up", "ended_s": 3.0, "text": "gave up"}]
    (folder / "verdict.json").write_text(json.dumps(verdict))
    assert flow_ends.end_ns(TrialResult(folder), 0) == 3 * S
