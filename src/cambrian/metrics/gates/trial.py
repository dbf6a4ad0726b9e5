"""All gates of one trial, and the gates that do not apply on its network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from cambrian.metrics.columns import NS_PER_MS
from cambrian.metrics.gates.capture import capture_gate, offload_gate
from cambrian.metrics.gates.ends import Closing, FlowEnd, Life, flow_end
from cambrian.metrics.gates.flows import (
    cca_gate,
    completion_gate,
    endpoint_gate,
    premature_gate,
    window_use_gate,
)
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
#: retransmission, QUIC stacks of their timers (docs/reference/endpoint-contract.md). Many say nothing.
TRIES = ("retransmit", "rto", "pto")


@dataclass(frozen=True)
class FlowFacts:
    """The testbed's facts about one flow besides its packets.

    ``rtt_ms`` is this flow's configured base RTT, ``base_rtt_ms`` the one measured in the
    guest. ``exit_status`` and ``error`` cover both of its programs, ``closing`` is the first report of
    a connection that ended early. ``complete_ns``: when the receiver had all bytes. ``connected``: None if
    neither program reports it. ``random_losses``: packets that its link was told to lose, on both ways.
    ``slow_receiver``: its receiver has a slow CPU, which may hold the sender back.
    ``loads_page``: only a loaded page has figures, so no cause excuses an early end.
    ``leaves_room``: why its controller leaves a part of an empty link unused, as its manifest says.
    """

    label: str
    cca: str
    rtt_ms: float
    confirmed_cca: str | None = None
    start_ns: int = 0
    size_bytes: int = 0
    complete_ns: int | None = None
    base_rtt_ms: float | None = None
    exit_status: int | None = None
    error: str | None = None
    closing: Closing | None = None
    connected: bool | None = None
    random_losses: int = 0
    slow_receiver: bool = False
    loads_page: bool = False
    leaves_room: str = ""


@dataclass(frozen=True)
class TrialFacts:
    """The testbed's facts about one trial. ``limit`` is the configured one of the queue.

    ``burst_bytes``: the token bucket's depth. ``warmup_ns``: when the last endless flow may be
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
        for name in ("rate_mbps", "rtt_ms", "loss_percent", "return_loss_percent", "handover_overlap_ms")
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
        skip.setdefault("saturation", "losses before the queue may slow the senders down")
    if network.return_loss_percent or "return_loss_percent" in scheduled:
        skip.setdefault("saturation", "the loss of acknowledgements may slow the senders down")
    if network.reorder_percent or network.jitter_ms:
        skip.setdefault("saturation", "senders that declare reordered packets lost may slow down")
    if network.jitter_ms:
        skip["base RTT"] = "jitter moves the smallest sample"
    if network.reorder_percent:
        skip["base RTT"] = "reordered packets skip the forward delay"
    if "rtt_ms" in scheduled:
        skip["base RTT"] = "the round trip changes on a schedule"
    if "handover_overlap_ms" in scheduled:
        skip.setdefault("saturation", "the receivers' address changes on a schedule")
    if network.duplicate_percent:
        skip["buffer"] = "of two identical packets nothing tells which one left"
    if network.queue != "droptail":
        skip["buffer"] = f"{network.queue} drops by its own rule, not when the buffer is full"
    return skip


def flow_ends(
    packets: pl.DataFrame, network: Network, facts: TrialFacts, transport: pl.DataFrame | None = None
) -> list[FlowEnd]:
    """How each flow of a trial ended."""
    return [flow_end(_life(packets, facts, number, transport), network) for number in range(len(facts.flows))]


def _life(packets: pl.DataFrame, facts: TrialFacts, number: int, transport: pl.DataFrame | None) -> Life:
    flow = facts.flows[number]
    tries_ns: list[int] = []
    if transport is not None:
        tries = (pl.col("flow") == number) & pl.col("event").is_in(TRIES)
        tries_ns = transport.filter(tries).get_column("time_ns").unique().sort().to_list()
    programs = endpoint_gate(flow.label, flow.exit_status, error=flow.error)
    return Life(
        packets=packets.filter(pl.col("flow") == number),
        others=packets.filter(pl.col("flow") != number),
        start_ns=flow.start_ns,
        end_ns=facts.duration_ns,
        rtt_ns=round(flow.rtt_ms * NS_PER_MS),
        complete_ns=flow.complete_ns,
        closing=flow.closing,
        connected=flow.connected,
        random_losses=flow.random_losses,
        fault=programs.text if programs.ok is False else None,
        tries_ns=tries_ns,
        excusable=not flow.loads_page,
    )


def trial_gates(
    packets: pl.DataFrame,
    network: Network,
    facts: TrialFacts,
    ends: Sequence[FlowEnd],
    transport: pl.DataFrame | None = None,
) -> list[Gate]:
    """Every gate of one trial: the link's, the capture's, then each flow's, whose ``ends`` are known.

    Saturation is judged only where every flow is endless (``size_bytes`` 0) and no receiver
    slow, over [warmup_ns, duration_ns).
    """
    skip = exemptions(network)
    return [
        *_link_gates(packets, network, facts, skip),
        capture_gate(facts.capture_lost),
        offload_gate(packets),
        *_flow_gates(packets, facts, ends, skip, transport),
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
    elif facts.flows and all(flow.leaves_room for flow in facts.flows):
        known = facts.flows[0]
        gates.append(skipped("saturation", f"{known.label} leaves a part of the link: {known.leaves_room}"))
    elif facts.warmup_ns >= facts.duration_ns:
        gates.append(skipped("saturation", "the trial ends within its warm-up"))
    else:
        gates.append(saturation_gate(packets, rate, facts.warmup_ns, facts.duration_ns))
    return gates


def _flow_gates(
    packets: pl.DataFrame,
    facts: TrialFacts,
    ends: Sequence[FlowEnd],
    skip: dict[str, str],
    transport: pl.DataFrame | None,
) -> list[Gate]:
    gates: list[Gate] = []
    for index, (flow, end) in enumerate(zip(facts.flows, ends, strict=True)):
        if "base RTT" in skip:
            gates.append(skipped("base RTT", skip["base RTT"]))
        else:
            gates.append(rtt_gate(flow.base_rtt_ms, flow.rtt_ms, facts.rtt_tolerance_ms))
        gates.append(premature_gate(flow.label, end))
        if flow.size_bytes and facts.capture_lost == 0:
            own = packets.filter(pl.col("flow") == index)
            gates.append(completion_gate(flow.label, own, flow.size_bytes, flow.complete_ns))
        gates.append(cca_gate(flow.label, flow.cca, flow.confirmed_cca))
        gates.append(endpoint_gate(flow.label, flow.exit_status, error=flow.error))
        if transport is not None and not flow.size_bytes:
            said = transport.filter(pl.col("flow") == index)
            gates.append(window_use_gate(flow.label, said, facts.warmup_ns, facts.duration_ns))
    return gates
