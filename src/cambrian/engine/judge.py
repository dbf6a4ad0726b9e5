"""From what the guest left to a verdict: facts for the gates, and the gates' answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl

from cambrian.engine import page_loads
from cambrian.metrics import gates
from cambrian.metrics.gates import FlowFacts, Gate, Limit, TrialFacts
from cambrian.metrics.gates.capture import receive_gate, receive_window_gate, segmentation_gate
from cambrian.metrics.gates.page import page_gates
from cambrian.stacks import catalogue
from cambrian.study.model import FRAME_BYTES, Trial

#: how far the measured base RTT may be off: the guest's timers are exact to a fraction of a
#: microsecond, the host's scheduling is not
RTT_TOLERANCE_MS = {"virtual": 0.002, "real": 5.0}
#: likewise for the rate, and for the order of what happens at nearly the same time
RATE_TOLERANCE_PERCENT = {"virtual": 1.0, "real": 5.0}
SLACK_NS = {"virtual": 1_000, "real": 20_000_000}
#: SIGTERM is how every program of a trial is told to end
_TERMINATED = -15
#: a program that would not end had done its work by then: noted, no fault of the trial
_KILLED = -9
#: lines of a program's standard error that a reason repeats
_TAIL_LINES = 3


def events(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON lines of a program's standard output; anything else in it is passed over."""
    if not path.exists():
        return
    for line in path.read_text(errors="replace").splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def _last(path: Path, kind: str) -> dict[str, Any]:
    return next((event for event in reversed(list(events(path))) if event.get("event") == kind), {})


def capture_lost(raw: Path) -> int | None:
    """Packets that the capture's rings had no room for; None if it did not say."""
    lost: int | None = _last(raw / "capture.out", "done").get("lost")
    return lost


def confirmed_cca(path: Path, requested: str) -> str | None:
    """The CCA as the sender's stack names it; of several connections, one that differs."""
    named = [event.get("confirmed") for event in events(path) if event.get("event") == "cca"]
    differing = [name for name in named if name is not None and name != requested]
    return differing[0] if differing else next((name for name in named if name is not None), None)


def _status(process: dict[str, Any] | None, end_ns: int, stops: Sequence[int]) -> int | None:
    """An exit status as the gates want it: ended by our own signal at the end is 0.

    ``stops``: the statuses with which this program answers SIGTERM.
    """
    if process is None or process["status"] is None:
        return None
    ended_by_us = process["ended_ns"] is not None and process["ended_ns"] >= end_ns
    return (
        0 if ended_by_us and process["status"] in (_TERMINATED, _KILLED, *stops) else int(process["status"])
    )


def _said(raw: Path, name: str) -> str | None:
    path = raw / f"{name}.err"
    lines = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
    return " / ".join(lines[-_TAIL_LINES:]) or None


def _flow(trial: Trial, number: int, report: dict[str, Any], plan: dict[str, Any], raw: Path) -> FlowFacts:
    flow = trial.flows[number]
    end_ns = report["end_ns"]
    status: int | None = 0
    error = None
    for side in ("sender", "receiver"):
        name = f"flow{number}.{side}"
        stops = plan["flows"][number][side].get("stop_statuses", (0,))
        one = _status(report["processes"].get(name), end_ns, stops)
        problem = next((text for text in report["problems"] if text.startswith(name)), None)
        if one != 0 or problem:
            said = _said(raw, name)
            status, error = (one if one != 0 else 1), "; it said: ".join(filter(None, (problem, said)))
            break
    done = _last(raw / f"flow{number}.receiver.out", "done")
    rtt_ns = report["base_rtt_ns"][number]
    rtt_ms = flow.rtt_ms or trial.network.rtt_ms
    return FlowFacts(
        label=f"flow {number} ({flow.contestant.name})",
        cca=flow.contestant.cca,
        rtt_ms=rtt_ms,
        confirmed_cca=confirmed_cca(raw / f"flow{number}.sender.out", flow.contestant.cca),
        start_ns=round(flow.start_ms * 1e6),
        size_bytes=flow.page.size_bytes if flow.page else flow.size_bytes,
        complete=bool((flow.size_bytes or flow.page) and done.get("complete")),
        base_rtt_ms=None if rtt_ns is None else rtt_ns / 1e6,
        exit_status=status,
        error=error,
        slow_receiver=flow.contestant.receiver_cpu is not None,
    )


def warmup_ns(trial: Trial) -> int:
    """When the last flow may be expected to have left slow start: its start and 20 round trips."""
    last = max(flow.start_ms + 20 * (flow.rtt_ms or trial.network.rtt_ms) for flow in trial.flows)
    return round(last * 1e6)


def facts(trial: Trial, report: dict[str, Any], plan: dict[str, Any], raw: Path) -> TrialFacts:
    """What the gates must know besides the packets."""
    return TrialFacts(
        duration_ns=report["end_ns"],
        limit=Limit(plan["bottleneck"]["limit_bytes"], one_in_transit=trial.network.trace_file is not None),
        burst_bytes=plan["bottleneck"].get("tbf", {}).get("burst_bytes", FRAME_BYTES),
        warmup_ns=warmup_ns(trial),
        capture_lost=capture_lost(raw),
        flows=tuple(_flow(trial, number, report, plan, raw) for number in range(len(trial.flows))),
        rtt_tolerance_ms=RTT_TOLERANCE_MS[trial.clock],
        rate_tolerance_percent=RATE_TOLERANCE_PERCENT[trial.clock],
        slack_ns=SLACK_NS[trial.clock],
    )


def _counter_gates(trial: Trial, counters: dict[str, Any], raw: Path) -> list[Gate]:
    found = []
    stacks = catalogue.load()
    for number, flow in enumerate(trial.flows):
        stats = _last(raw / f"flow{number}.sender.out", "stats")
        if "rwnd_limited_us" in stats:
            label = f"flow {number} ({flow.contestant.name})"
            if flow.contestant.receiver_cpu:
                found.append(gates.skipped("receive window", f"{label} has a slow receiver"))
            else:
                gate = receive_window_gate(label, stats["rwnd_limited_us"], stats["busy_us"])
                # the kernel sizes the window of a page's client: that is part of how pages load
                found.append(replace(gate, ok=None) if flow.page and gate.ok is False else gate)
        if stacks[flow.contestant.stack].manifest.protocol == "tcp" or trial.network.duplicate_percent:
            continue
        counted = counters["flows"][number]
        link = counted["forward"][0]
        offered = link["sent_packets"] + link["dropped_packets"] + link["backlog_packets"]
        datagrams = counted["snmp"]["Udp"]["OutDatagrams"]
        found.append(segmentation_gate(f"flow {number} ({flow.contestant.name})", datagrams, offered))
    if any(flow.contestant.receiver_cpu for flow in trial.flows):
        found.append(gates.skipped("receive buffer", "a slow receiver's socket may overflow"))
    else:
        found.append(receive_gate(counters["receiver"]["snmp"]["Udp"]["RcvbufErrors"]))
    return found


def _page_gates(trial: Trial, columns: Mapping[str, pl.DataFrame], raw: Path) -> list[Gate]:
    found = []
    for number, flow in enumerate(trial.flows):
        if flow.page is None:
            continue
        (load_ns,) = columns["page_loads"].filter(pl.col("flow") == number).get_column("load_ns")
        found += page_gates(
            f"flow {number} ({flow.contestant.name})",
            columns["objects"].filter(pl.col("flow") == number),
            load_ns,
            page_loads.served(catalogue.load()[flow.contestant.stack]).alpn,
            _last(raw / f"flow{number}.receiver.out", "done").get("error"),
        )
    return found


def judge(
    trial: Trial,
    plan: dict[str, Any],
    report: dict[str, Any],
    raw: Path,
    columns: Mapping[str, pl.DataFrame],
) -> dict[str, Any]:
    """``verdict.json`` of a trial whose guest came to its end.

    ``columns``: ``packets`` and ``transport``, and of page loads ``objects`` and ``page_loads``.
    """
    known = facts(trial, report, plan, raw)
    every = gates.trial_gates(columns["packets"], trial.network, known, columns["transport"])
    every += _counter_gates(trial, report["counters"], raw)
    every += _page_gates(trial, columns, raw)
    answer = gates.verdict(every)
    notes = answer.notes + [text for text in report["problems"] if text.startswith("note: ")]
    notes += [f"{name} did not end on SIGTERM and was killed" for name in report["killed"]]
    return {
        "valid": answer.valid,
        "reasons": answer.reasons,
        "notes": notes,
        "gates": [asdict(gate) for gate in every],
    }


def invalid(*reasons: str) -> dict[str, Any]:
    """``verdict.json`` of a trial that never came to its end."""
    return {"valid": False, "reasons": list(reasons), "notes": [], "gates": []}
