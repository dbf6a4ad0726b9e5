"""Loss recovery of each flow of a trial: collect the counters and reports that the metric needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from cambrian.measure import flow_ends
from cambrian.metrics import recovery
from cambrian.metrics.payload import HEADER_BYTES
from cambrian.metrics.recovery import Delivery, FlowFacts, FlowRecovery
from cambrian.store.results import TrialResult
from cambrian.study.model import Trial
from cambrian.study.reference import REFERENCE_STACK
from cambrian.trace.endpoint_events import EndpointEvents


def flow_recoveries(result: TrialResult, trial: Trial) -> tuple[FlowRecovery | None, ...]:
    """The recovery of each flow; None if the network duplicates packets or changes delays.

    Nothing counts packets that are lost behind the queue (at a receiver's old address, in a slow one's
    socket). Then no declared loss is known to be false, and no delivered byte to have come.
    """
    network = trial.network
    if network.duplicate_percent or network.changes("rtt_ms"):
        return (None,) * len(trial.flows)
    return tuple(
        recovery.flow_recovery(
            result.packets.filter(pl.col("flow") == number),
            result.transport.filter(pl.col("flow") == number),
            _facts(result, trial, number),
        )
        for number in range(len(trial.flows))
    )


def tcp_counters(result: TrialResult, number: int) -> dict[str, int]:
    """The kernel's counters of TCP in a sender's namespace (``/proc/net/snmp``).

    Empty in the oldest results, which lack them: the facts of their flows are unknown.
    """
    counted = result.manifest["guest"]["counters"]["flows"][number]
    found: dict[str, int] = counted.get("snmp", {}).get("Tcp", {})
    return found


def _facts(result: TrialResult, trial: Trial, number: int) -> FlowFacts:
    manifest, flow = result.manifest, trial.flows[number]
    guest = manifest["guest"]
    link = manifest["network"]["links"][number]
    sender = EndpointEvents.of(manifest, f"flow{number}.sender")
    segments = tcp_counters(result, number)
    is_tcp = segments.get("OutSegs", 0) > 0
    done_ns = flow_ends.done_ns(result, number)
    whole = bool(flow.size_bytes) and flow_ends.complete_ns(result, number, flow.size_bytes) is not None
    lost_behind = trial.network.changes("handover_overlap_ms") or flow.contestant.receiver_cpu is not None
    lost = segments["RetransSegs"] if is_tcp else sender.total("packets_lost")
    # TLS and HTTP have headers of their own, within the stream
    is_plain = is_tcp and flow.contestant.stack == REFERENCE_STACK and not flow.contestant.tls
    rates_change = trial.network.changes("rate_mbps")
    return FlowFacts(
        forward_ns=link["forward"]["delay_ns"],
        back_ns=link["back"]["delay_ns"],
        start_ns=round(flow.start_ms * 1e6),
        end_ns=guest["end_ns"],
        random_drops=result.link_counts("forward")[number].lost,
        # the kernel's counters are read at the trial's end, a QUIC stack's when its program ends
        declared=None if lost_behind else lost,
        counted_until_ns=guest["end_ns"] if is_tcp else _ended_ns(guest, number),
        timeouts=None if is_tcp else sender.total("ptos"),
        delivery=None
        if flow.page or lost_behind
        else _delivery(result, number, guest, flow.size_bytes if whole else 0),
        header_bytes=HEADER_BYTES["tcp"] if is_plain else None,
        size_bytes=flow.size_bytes if whole else None,
        done_ns=done_ns,
        rate_mbps=None if rates_change else trial.network.rate_mbps,
    )


def _ended_ns(guest: dict[str, Any], number: int) -> int:
    """When its program ended; the trial's end where that is not known."""
    ended = guest["processes"][f"flow{number}.sender"]["ended_ns"]
    return int(guest["end_ns"] if ended is None else ended)


def _delivery(result: TrialResult, number: int, guest: dict[str, Any], whole_bytes: int) -> Delivery | None:
    """The receiver's reports within the trial; the last of a flow of fixed size that came whole."""
    log = result.log(f"flow{number}.receiver.out")
    kinds = ("progress", "done") if whole_bytes else ("progress",)
    reports = [
        (event["time_ns"] - guest["zero_ns"], event["bytes"])
        for event in EndpointEvents.read(log).kind(*kinds)
        if None not in (event.get("time_ns"), event.get("bytes"))
        and event["time_ns"] - guest["zero_ns"] <= guest["end_ns"]
    ]
    if not reports:
        return None
    times, received = zip(*reports, strict=True)
    return Delivery(np.array(times, np.int64), np.array(received, np.int64))
