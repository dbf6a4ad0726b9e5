"""Decides whether a trial is valid: collects the facts for the gates, and combines their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from cambrian.metrics import gates
from cambrian.metrics.gates import Closing, FlowFacts, Gate, Limit, TrialFacts
from cambrian.metrics.gates.capture import (
    captured_gate,
    receive_gate,
    receive_window_gate,
    segmentation_gate,
)
from cambrian.metrics.gates.link import loss_gate, trace_link_gate
from cambrian.metrics.gates.page import page_gates
from cambrian.stacks import catalogue
from cambrian.store.results import link_count
from cambrian.study.model import FRAME_BYTES, Network, Trial
from cambrian.testbed.contract import Counters, FlowCounters, GuestReport, Plan, ProcessReport
from cambrian.trace import packets
from cambrian.trace.endpoint_events import Programs
from cambrian.trial import page_loads, real_time, seating

#: largest error of the measured base RTT: the guest's timers are exact to a fraction of a
#: microsecond, the host's scheduling is less exact
RTT_TOLERANCE_MS = {"virtual": 0.002, "real": 5.0, "host": 5.0}
#: largest error of the rate, and of the order of events at nearly the same time
RATE_TOLERANCE_PERCENT = {"virtual": 1.0, "real": 5.0, "host": 5.0}
SLACK_NS = {"virtual": 1_000, "real": 20_000_000, "host": 20_000_000}
#: the link of a trace is a program: it sends up to this much after an opportunity if other programs of the
#: guest, such as a browser, hold the processor. Opportunities are whole milliseconds.
TRACE_SLACK_NS = 1_000_000
#: SIGTERM tells every program of a trial to end
_TERMINATED = -15
#: "failed" in the endpoint contract: the program gives the reason
_FAILED = 1
#: what ``testbed/native/run_as.c`` says, and ends with, if it cannot start a program
_STARTER, _NOT_STARTED = "run_as: ", (126, 127)
#: a program that did not end on SIGTERM had done its work by then: a note, the trial stays valid
_KILLED = -9
#: what is often why others fail, such as saturation: a program that breaks the contract, fails or ends early
_CAUSES = ("events", "trace link", "endpoint", "premature end")
#: lines of a program's standard error that a reason shows
_TAIL_LINES = 3


def capture_lost(programs: Programs) -> int | None:
    """Packets that did not fit into the capture's rings; None if the capture did not report it."""
    lost = programs["capture"].last("done").get("lost")
    return lost if isinstance(lost, int) else None


def _capture_finished(report: GuestReport, programs: Programs) -> bool:
    """Did the capture end by itself, with all records that it reports?"""
    process, done = report["processes"].get("capture"), programs["capture"].last("done")
    if process is None or process["status"] != 0 or not done:
        return False
    records = (programs.folder / "capture.bin").stat().st_size // packets.RECORD.itemsize
    return bool(done.get("arrivals", 0) + done.get("departures", 0) == records)


def _overflowed(report: GuestReport, programs: Programs) -> int | None:
    """Packets that did not reach the program that plays a trace; None if it failed or does not say."""
    process = report["processes"].get("tracelink")
    overflowed = programs["tracelink"].last("done").get("overflowed_packets")
    return overflowed if process is not None and process["status"] == 0 else None


def _status(process: ProcessReport | None, end_ns: int, stops: Sequence[int]) -> int | None:
    """The exit status for the gates; 0 if the program ended because the trial did.

    ``stops``: the exit statuses of this program after SIGTERM, or after its peer's end at the trial's end.
    """
    if process is None:
        return None
    status, ended_ns = process["status"], process["ended_ns"]
    stopped = process["stopped"] and status in (_TERMINATED, _KILLED, *stops)
    # receivers are stopped first, and a sender may end because its peer has
    after = ended_ns is not None and ended_ns > end_ns and status in stops
    return 0 if stopped or after else status


@dataclass(frozen=True)
class _Program:
    """How one side's program ended: ``status`` for the gates, its fault, and the end of its connection."""

    status: int | None
    fault: str | None = None
    closing: Closing | None = None


def _program(
    name: str, report: GuestReport, stops: Sequence[int], programs: Programs, *, complete: bool
) -> _Program:
    """How one program ended. A report of its connection's end (a ``done`` line with an error) is no failure.

    Ending early without a report is a failure, even with status 0, because the transfer was not complete.
    """
    end_ns = report["end_ns"]
    process = report["processes"].get(name)
    status = _status(process, end_ns, stops)
    complaint = programs.complaint(name, _TAIL_LINES)
    if status in _NOT_STARTED and complaint and complaint.startswith(_STARTER):
        # its status says nothing of the program: 127 of one that runs is "unsupported"
        why = complaint.removeprefix(_STARTER)
        return _Program(None, f"{name} could not be started: {why}; correct its command or build.readable")
    done = programs[name].done
    closing = None
    if done and done.error and done.time_ns - report["zero_ns"] <= end_ns:
        side = name.partition(".")[2]
        closing = Closing(done.time_ns - report["zero_ns"], f"its {side} said: {done.error}")
    if problem := next((text for text in report["problems"] if text.startswith(name)), None):
        words = (problem, complaint)
        return _Program(status, "; it said: ".join(filter(None, words)))
    if status in (0, _FAILED) and closing:
        return _Program(0, closing=closing)
    if status != 0:
        return _Program(status, complaint)
    ended_ns = process["ended_ns"] if process else None
    # the last receiver to end is the trial's end
    if not complete and ended_ns is not None and ended_ns <= end_ns:
        return _Program(0, f"{name} ended by itself at {ended_ns / 1e9:.3f} s, and did not say why")
    return _Program(0)


def _random_losses(network: Network, counted: FlowCounters) -> int:
    """Packets and acknowledgements that a flow's link lost, if it has random losses."""
    forward = (
        network.loss_percent
        or network.burst_loss
        or network.loss_every_packets
        or network.changes("loss_percent")
    )
    back = network.return_loss_percent or network.changes("return_loss_percent")
    lost = link_count(counted["forward"], network.loss_every_packets).lost if forward else 0
    return lost + (link_count(counted["back"]).lost if back else 0)


def _flow(trial: Trial, number: int, report: GuestReport, plan: Plan, programs: Programs) -> FlowFacts:
    flow = trial.flows[number]
    receiver = programs[f"flow{number}.receiver"]
    complete_ns = None
    if flow.size_bytes or flow.page:
        complete_ns = receiver.complete_ns(report["zero_ns"], report["end_ns"])
    # a client of no contract cannot say that it has everything: that it ends well must do
    complete = complete_ns is not None or bool(flow.size_bytes and not receiver.follows)
    sides = [
        _program(
            f"flow{number}.{side}",
            report,
            plan["flows"][number][side].get("stop_statuses", (0,)),
            programs,
            complete=complete,
        )
        for side in ("sender", "receiver")
    ]
    bad = next((side for side in sides if side.status != 0 or side.fault), sides[0])
    closings = sorted((side.closing for side in sides if side.closing), key=lambda closing: closing.time_ns)
    rtt_ns = report["base_rtt_ns"][number]
    return FlowFacts(
        label=f"flow {number} ({flow.contestant.name})",
        cca=flow.contestant.cca,
        rtt_ms=flow.base_rtt_ms(trial.network),
        confirmed_cca=programs[f"flow{number}.sender"].read_back.name(flow.contestant.cca),
        start_ns=round(flow.start_ms * 1e6),
        size_bytes=flow.page.size_bytes if flow.page else flow.size_bytes,
        complete_ns=complete_ns,
        base_rtt_ms=None if rtt_ns is None else rtt_ns / 1e6,
        exit_status=bad.status,
        error=bad.fault,
        closing=closings[0] if closings else None,
        connected=None if flow.page else receiver.connected,
        random_losses=_random_losses(trial.network, report["counters"]["flows"][number]),
        slow_receiver=flow.contestant.receiver_cpu is not None,
        loads_page=flow.page is not None,
        leaves_room=catalogue.load()[flow.contestant.stack]
        .manifest.ccas[flow.contestant.cca]
        .causes.get("capacity", ""),
    )


def facts(trial: Trial, report: GuestReport, plan: Plan, programs: Programs) -> TrialFacts:
    """The facts that the gates need in addition to the packets."""
    traced = trial.network.trace_file is not None
    return TrialFacts(
        duration_ns=trial.planned_end_ns(report["end_ns"]),
        limit=Limit(plan["bottleneck"]["limit_bytes"], one_in_transit=traced),
        burst_bytes=plan["bottleneck"].get("tbf", {}).get("burst_bytes", FRAME_BYTES),
        warmup_ns=trial.warmup_ns,
        capture_lost=capture_lost(programs) if _capture_finished(report, programs) else None,
        flows=tuple(_flow(trial, number, report, plan, programs) for number in range(len(trial.flows))),
        rtt_tolerance_ms=RTT_TOLERANCE_MS[trial.clock],
        rate_tolerance_percent=RATE_TOLERANCE_PERCENT[trial.clock],
        slack_ns=max(SLACK_NS[trial.clock], TRACE_SLACK_NS if traced else 0),
    )


def _link_gates(trial: Trial, counters: Counters, seen: pl.DataFrame, late: Sequence[int]) -> list[Gate]:
    """What the kernel counted on each flow's link, against what is configured and what was captured.

    ``late``: each flow's packets that were captured after the trial's end, until the counters were read.
    """
    results: list[Gate] = []
    network = trial.network
    if network.duplicate_percent:
        return [gates.skipped("link loss", "copies of packets count as offered")]
    captured = dict(seen.group_by("flow").len().iter_rows())
    # what a schedule changes has no one value to hold the counters against
    forward = None if network.burst_loss or network.changes("loss_percent") else network.loss_percent
    back = None if network.changes("return_loss_percent") else network.return_loss_percent
    for number, flow in enumerate(trial.flows):
        label = f"flow {number} ({flow.contestant.name})"
        ways = (("forward", forward), ("back", back))
        counted = counters["flows"][number]
        for way, percent in ways:
            # the losses of every n-th packet come before netem, and netem counts its own
            count = link_count(counted["forward"] if way == "forward" else counted["back"])
            if percent is not None:
                results.append(loss_gate(f"the {way} link of {label}", *count, percent))
        sent = sum(row["sent_packets"] for row in counted["forward"] if row["kind"] == "netem")
        results.append(captured_gate(label, captured.get(number, 0), sent, late[number]))
    return results


def _counter_gates(trial: Trial, counters: Counters, programs: Programs) -> list[Gate]:
    results = []
    stacks = catalogue.load()
    for number, flow in enumerate(trial.flows):
        stats = programs[f"flow{number}.sender"].last("stats")
        limited_us, busy_us = stats.get("rwnd_limited_us"), stats.get("busy_us")
        if limited_us is not None and busy_us is not None:
            label = f"flow {number} ({flow.contestant.name})"
            if flow.contestant.receiver_cpu:
                results.append(gates.skipped("receive window", f"{label} has a slow receiver"))
            else:
                gate = receive_window_gate(label, limited_us, busy_us)
                # the kernel sizes the window of a page's client: a property of page loads, not a fault
                results.append(replace(gate, ok=None) if flow.page and gate.ok is False else gate)
        network = trial.network
        one_each = not (network.duplicate_percent or network.offload)
        if stacks[flow.contestant.stack].manifest.protocol == "tcp" or not one_each:
            continue
        counted = counters["flows"][number]
        offered = link_count(counted["forward"], trial.network.loss_every_packets).offered
        datagrams = counted["snmp"]["Udp"]["OutDatagrams"]
        results.append(segmentation_gate(f"flow {number} ({flow.contestant.name})", datagrams, offered))
    if any(flow.contestant.receiver_cpu for flow in trial.flows):
        results.append(gates.skipped("receive buffer", "a slow receiver's socket may overflow"))
    else:
        results.append(receive_gate(counters["receiver"]["snmp"]["Udp"]["RcvbufErrors"]))
    return results


def _page_gates(
    trial: Trial, columns: Mapping[str, pl.DataFrame], programs: Programs, end_ns: int
) -> list[Gate]:
    results = []
    for number, flow in enumerate(trial.flows):
        if flow.page is None:
            continue
        (load_ns,) = columns["page_loads"].filter(pl.col("flow") == number).get_column("load_ns")
        results += page_gates(
            f"flow {number} ({flow.contestant.name})",
            columns["objects"].filter(pl.col("flow") == number),
            # programs run on for a moment while the trial shuts down
            load_ns if load_ns is not None and load_ns <= end_ns else None,
            page_loads.served(catalogue.load()[flow.contestant.stack]).alpn,
            programs[f"flow{number}.receiver"].error,
        )
    return results


def judge(
    trial: Trial,
    plan: Plan,
    report: GuestReport,
    programs: Programs,
    columns: Mapping[str, pl.DataFrame],
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """``verdict.json`` of a trial whose guest ended normally.

    ``columns``: ``packets`` and ``transport``; with page loads also ``objects`` and ``page_loads``.
    ``notes``: of the reading of what the programs wrote.
    """
    known = facts(trial, report, plan, programs)
    ends = gates.flow_ends(columns["packets"], trial.network, known, columns["transport"])
    every = [
        Gate("events", False, None, None, f"events: {name} {text}") for name, text in programs.odd().items()
    ]
    every += gates.trial_gates(columns["packets"], trial.network, known, ends, columns["transport"])
    after_the_end = packets.arrivals(
        programs.folder / "capture.bin",
        len(trial.flows),
        zero_ns=report["zero_ns"],
        from_ns=report["end_ns"],
        until_ns=report["counted_ns"],
    )
    late = seating.by_flow(after_the_end, trial)
    if trial.network.trace_file is not None:
        every.append(trace_link_gate(_overflowed(report, programs)))
    every += _link_gates(trial, report["counters"], columns["packets"], late)
    every += _counter_gates(trial, report["counters"], programs)
    every += _page_gates(trial, columns, programs, report["end_ns"])
    every.sort(key=_rank)
    answer = gates.verdict(every)
    notes = answer.notes + [*notes] + [text for text in report["problems"] if text.startswith("note: ")]
    notes += [f"{name} did not end on SIGTERM and was killed" for name in report["killed"]]
    if behind := real_time.behind(report):
        notes.append(behind)
    return {
        "valid": answer.valid,
        "reasons": answer.reasons,
        "notes": notes,
        "flows": [
            {"flow": number, "outcome": end.outcome, "ended_s": end.ended_s, "text": end.text}
            for number, end in enumerate(ends)
        ],
        "gates": [asdict(gate) for gate in every],
    }


def _rank(gate: Gate) -> int:
    """A failed gate that is often why others fail comes first."""
    return _CAUSES.index(gate.name) if gate.ok is False and gate.name in _CAUSES else len(_CAUSES)


def invalid(*reasons: str) -> dict[str, Any]:
    """``verdict.json`` of a trial whose guest did not end normally."""
    return {"valid": False, "reasons": list(reasons), "notes": [], "flows": [], "gates": []}
