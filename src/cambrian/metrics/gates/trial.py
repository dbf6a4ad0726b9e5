"""All gates of one trial, and which of them its network exempts it from."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from cambrian.metrics.columns import NS_PER_MS
from cambrian.metrics.gates.capture import capture_gate, offload_gate
from cambrian.metrics.gates.flows import cca_gate, endpoint_gate, premature_gate, window_use_gate
from cambrian.metrics.gates.link import (
    Limit,
    buffer_gate,
    rate_gate,
    rtt_gate,
    saturation_gate,
)
from cambrian.metrics.gates.verdict import Gate, skipped
from cambrian.study.model import Network

#: Rows of a transport log by which a sender says that it tried again unasked: kernel TCP of each
#: retransmission, QUIC stacks of their timers (docs/endpoint-contract.md). Many say nothing.
TRIES = ("retransmit", "rto", "pto")


@dataclass(frozen=True)
class FlowFacts:
    """What the testbed knows of one flow besides its packets.

    ``rtt_ms`` is this flow's configured base RTT, ``base_rtt_ms`` the one measured in the
    guest. ``exit_status``, ``error`` and ``timed_out`` cover both of its programs.
    ``slow_receiver``: its receiver has a slow processor, which may hold the sender back.
    """

    label: str
    cca: str
    rtt_ms: float
    confirmed_cca: str | None = None
    start_ns: int = 0
    size_bytes: int = 0
    complete: bool = False
    base_rtt_ms: float | None = None
    exit_status: int | None = None
    error: str | None = None
    timed_out: bool = False
    slow_receiver: bool = False


@dataclass(frozen=True)
class TrialFacts:
    """What the testbed knows of one trial. ``limit`` is the queue's, as it was set.

    ``burst_bytes``: the token bucket's depth. ``warmup_ns``: when the last flow may be
    expected to have left slow start; saturation is judged from there. ``rtt_tolerance_ms``
    belongs to how ``base_rtt_ms`` was measured. ``capture_lost``: ring overruns, or None
    where they are not known. ``slack_ns``: events nearer than this have no known order.
    """

    duration_ns: int
    limit: Limit
    burst_bytes: int
    warmup_ns: int
    capture_lost: int | None
    flows: tuple[FlowFacts, ...] = field(default=())
    rtt_tolerance_ms: float = 0.1
    rate_tolerance_percent: float = 1.0
    slack_ns: int = 1_000


def exemptions(network: Network) -> dict[str, str]:
    """Gates that do not apply on this network: name of the gate → why."""
    skip: dict[str, str] = {}
    scheduled = {
        name
        for change in network.schedule
        for name in ("rate_mbps", "rtt_ms", "loss_percent", "handover_overlap_ms")
        if getattr(change, name) is not None
    }
    if network.rate_mbps is None:
        skip["rate"] = skip["saturation"] = "the link follows a trace and has no fixed rate"
        skip["base RTT"] = "a packet waits for the trace's next opportunity"
    if "rate_mbps" in scheduled:
        skip["rate"] = skip["saturation"] = "the rate changes on a schedule"
    if (
        network.loss_percent
        or network.burst_loss
        or network.loss_every_packets
        or "loss_percent" in scheduled
    ):
        skip.setdefault("saturation", "random loss may hold the senders back")
    if network.reorder_percent or network.jitter_ms:
        skip.setdefault("saturation", "senders that take overtaken packets for lost hold back")
    if network.jitter_ms:
        skip["base RTT"] = "jitter moves the smallest sample"
    if network.reorder_percent:
        skip["base RTT"] = "reordered packets skip the forward delay"
    if "rtt_ms" in scheduled:
        skip["base RTT"] = "the round trip changes on a schedule"
    if "handover_overlap_ms" in scheduled:
        skip.setdefault("saturation", "the receivers' address changes on a schedule")
        skip["premature end"] = "a flow that cannot follow its receiver to another address ends there"
    if network.duplicate_percent:
        skip["buffer"] = "of two identical packets nothing tells which one left"
    if network.queue != "droptail":
        skip["buffer"] = f"{network.queue} drops by its own rule, not when the buffer is full"
    return skip


def trial_gates(
    packets: pl.DataFrame, network: Network, facts: TrialFacts, transport: pl.DataFrame | None = None
) -> list[Gate]:
    """Every gate of one trial: the link's, the capture's, then each flow's.

    Saturation is judged only where every flow is endless (``size_bytes`` 0) and no receiver
    slow, over [warmup_ns, duration_ns).
    """
    skip = exemptions(network)
    return [
        *_link_gates(packets, network, facts, skip),
        capture_gate(facts.capture_lost),
        offload_gate(packets),
        *_flow_gates(packets, facts, skip, transport),
    ]


def _link_gates(
    packets: pl.DataFrame, network: Network, facts: TrialFacts, skip: dict[str, str]
) -> list[Gate]:
    gates: list[Gate] = []
    rate = network.rate_mbps
    if "rate" in skip or rate is None:
        gates.append(skipped("rate", skip["rate"]))
    else:
        gates.append(rate_gate(packets, rate, facts.burst_bytes, facts.rate_tolerance_percent))
    if "buffer" in skip:
        gates.append(skipped("buffer", skip["buffer"]))
    else:
        gates.append(buffer_gate(packets, facts.limit, facts.slack_ns))
    if "saturation" in skip or rate is None:
        gates.append(skipped("saturation", skip["saturation"]))
    elif any(flow.size_bytes for flow in facts.flows):
        gates.append(skipped("saturation", "a flow has a fixed size"))
    elif any(flow.slow_receiver for flow in facts.flows):
        gates.append(skipped("saturation", "a slow receiver may hold its sender back"))
    elif facts.warmup_ns >= facts.duration_ns:
        gates.append(skipped("saturation", "the trial ends within its warm-up"))
    else:
        gates.append(saturation_gate(packets, rate, facts.warmup_ns, facts.duration_ns))
    return gates


def _flow_gates(
    packets: pl.DataFrame, facts: TrialFacts, skip: dict[str, str], transport: pl.DataFrame | None
) -> list[Gate]:
    gates: list[Gate] = []
    if not facts.flows:
        return gates
    for index, flow in enumerate(facts.flows):
        said = None if transport is None else transport.filter(pl.col("flow") == index)
        if "base RTT" in skip:
            gates.append(skipped("base RTT", skip["base RTT"]))
        else:
            gates.append(rtt_gate(flow.base_rtt_ms, flow.rtt_ms, facts.rtt_tolerance_ms))
        if "premature end" in skip:
            gates.append(skipped("premature end", skip["premature end"]))
        else:
            gates.append(
                premature_gate(
                    flow.label,
                    packets.filter(pl.col("flow") == index),
                    (flow.start_ns, facts.duration_ns),
                    round(flow.rtt_ms * NS_PER_MS),
                    complete=flow.complete,
                    tries_ns=[]
                    if said is None
                    else said.filter(pl.col("event").is_in(TRIES))["time_ns"].unique().sort().to_list(),
                )
            )
        gates.append(cca_gate(flow.label, flow.cca, flow.confirmed_cca))
        gates.append(endpoint_gate(flow.label, flow.exit_status, error=flow.error, timed_out=flow.timed_out))
        if said is not None and not flow.size_bytes:
            gates.append(window_use_gate(flow.label, said, facts.warmup_ns, facts.duration_ns))
    return gates
