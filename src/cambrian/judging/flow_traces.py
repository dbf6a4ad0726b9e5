"""Make the flow traces, from which parameters are estimated, from a trial's results."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cambrian.judging.families import Family
from cambrian.measure import flow_ends
from cambrian.metrics import parameters
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.store.results import TrialResult
from cambrian.study.model import Network, Trial


def flow_traces(
    result: TrialResult, families: Sequence[Family | None], *, pages: bool = False
) -> list[FlowTrace | None]:
    """One trace for each flow; None for a flow without a family, or that loads a page (without ``pages``)."""
    trial = Trial.model_validate(result.manifest["trial"])
    network = trial.network
    acks = [count.offered for count in result.link_counts("back")]
    packets, transport = result.packets, result.transport
    found: list[FlowTrace | None] = []
    for number, flow in enumerate(trial.flows):
        family = families[number]
        if family is None or (flow.page is not None and not pages):
            found.append(None)
            continue
        rtt_ms = flow.base_rtt_ms(network)
        found.append(
            FlowTrace(
                packets=packets.filter(pl.col("flow") == number),
                transport=transport.filter(pl.col("flow") == number),
                family=family.reference,
                protocol=family.protocol,
                rtt_ms=rtt_ms,
                forward_delay_ms=rtt_ms * network.forward_delay_percent / 100,
                rate_mbps=network.rate_mbps,
                start_ns=round(flow.start_ms * 1e6),
                end_ns=flow_ends.end_ns(result, number),
                alone=len(trial.flows) == 1,
                steady=is_steady(network),
                random_loss=loses(network),
                acks=acks[number],
                slow_receiver=flow.contestant.receiver_cpu is not None,
                changing=changing(network),
                other_transport=family.other_transport,
            )
        )
    return found


def estimates(result: TrialResult, families: Sequence[Family | None]) -> list[tuple[Estimate | Missing, ...]]:
    """Each flow's estimates of its controller's parameters; empty for a flow without a trace."""
    traces = flow_traces(result, families)
    return [() if trace is None else tuple(parameters.estimate_all(trace)) for trace in traces]


def is_steady(network: Network) -> bool:
    """Does the path stay as it is, and in order?"""
    return not changing(network)


def changing(network: Network) -> str:
    """What a path does that is not steady, as a clause; empty for a steady one."""
    clauses = {
        "the link's rate follows a trace": network.trace_file,
        "the link's rate changes": network.changes("rate_mbps"),
        "the path's delay changes": network.changes("rtt_ms") or network.jitter_ms,
        "the path loses more packets at some times than at others": network.changes("loss_percent"),
        "the path loses acknowledgements at some times": network.changes("return_loss_percent"),
        "the receiver's address changes": network.changes("handover_overlap_ms"),
        "the path reorders packets": network.reorder_percent,
        "the path duplicates packets": network.duplicate_percent,
    }
    return " and ".join(clause for clause, is_so in clauses.items() if is_so)


def loses(network: Network) -> bool:
    """Does the path itself lose packets, before the capture point?"""
    return bool(network.loss_percent or network.burst_loss or network.loss_every_packets)
