"""One trial's figures: what every table and chart of a report starts from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cambrian.engine.measures import interval_ns
from cambrian.judging.families import Family
from cambrian.judging.flow_traces import estimates
from cambrian.metrics import (
    completion,
    envelope,
    fairness,
    loss,
    pageload,
    queueing,
    throughput,
    utilisation,
    waterfall,
)
from cambrian.metrics.columns import NS_PER_S
from cambrian.metrics.envelope import Envelope
from cambrian.metrics.pageload import PageLoad
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.recovery import FlowRecovery
from cambrian.metrics.states.machine import Machine
from cambrian.metrics.waterfall import Waterfall
from cambrian.report import machines, recovery, sharing
from cambrian.report.sharing import Sharing
from cambrian.store.results import TrialResult
from cambrian.study.model import Flow, Network, Trial


@dataclass(frozen=True)
class FlowMeasures:
    """One flow of one trial.

    Throughput, share and queueing delay (of this flow's own packets) over the trial's
    measured interval, or, for a flow of fixed size, over its own span at the bottleneck.
    ``share`` is NaN in a trial with a flow of fixed size. Losses are over the whole trial,
    in percent, None where nothing was sent; ``interval_queue_loss_percent`` alone is over the measured
    interval (None for a flow of fixed size). ``confirmed_cca`` is None where the stack offers
    no way to read it back; ``completion_s`` is the span of a flow of fixed size that was
    carried whole.
    """

    throughput_mbps: float
    share: float
    delay_p50_ms: float | None
    delay_p95_ms: float | None
    delay_p99_ms: float | None
    queue_loss_percent: float | None
    random_loss_percent: float | None
    interval_queue_loss_percent: float | None
    requested_cca: str
    confirmed_cca: str | None
    completion_s: float | None


@dataclass(frozen=True)
class TrialMeasures:
    """One valid trial.

    ``t0_ns`` to ``t1_ns`` is the measured interval (:mod:`cambrian.engine.measures`). ``envelope``
    is flow 0's, by method ``imc22``; None where it was not asked for or has no point.
    ``utilisation`` is None for a link that follows a trace; ``jain`` is NaN with a flow of
    fixed size, whose throughput is of another time. A flow that loads a page has a fixed size;
    ``page_loads`` has one entry for each.
    """

    id: str
    folder: Path
    trial: Trial
    t0_ns: int
    t1_ns: int
    flows: tuple[FlowMeasures, ...]
    jain: float
    utilisation: float | None
    envelope: Envelope | None
    page_loads: tuple[PageLoad, ...] = ()
    #: None for a flow alone, and with a flow of fixed size
    sharing: Sharing | None = None
    #: flow by flow, what its traces say of its controller's parameters
    parameters: tuple[tuple[Estimate | Missing, ...], ...] = ()
    #: one a flow that loads a page
    waterfalls: tuple[Waterfall, ...] = ()
    #: one a flow; None where it cannot be told
    recoveries: tuple[FlowRecovery | None, ...] = ()
    #: state machines, one a flow; None where the stack exports neither states nor a window
    machines: tuple[Machine | None, ...] = ()

    @property
    def shown_s(self) -> float:
        """How much of the trial a line over time shows: all, or until the last of its pages was there."""
        if len(self.page_loads) < len(self.flows):
            return self.trial.duration_s
        return math.ceil(self.t1_ns / NS_PER_S * 10) / 10


def measure(
    result: TrialResult, *, with_envelope: bool, families: Sequence[Family | None] = ()
) -> TrialMeasures:
    """The figures of a valid trial. ``families``: what each flow's controller is judged as."""
    manifest, packets = result.manifest, result.packets
    trial = Trial.model_validate(manifest["trial"])
    t0_ns, t1_ns = interval_ns(trial, manifest["guest"]["end_ns"])
    sized = any(is_sized(flow) for flow in trial.flows)
    flows = _flows(trial, manifest, packets, (t0_ns, t1_ns))
    return TrialMeasures(
        id=result.id,
        folder=result.folder,
        trial=trial,
        t0_ns=t0_ns,
        t1_ns=t1_ns,
        flows=flows,
        jain=math.nan if sized else fairness.jain([flow.throughput_mbps for flow in flows]),
        utilisation=_utilisation(trial.network, packets, t0_ns, t1_ns),
        envelope=_envelope(trial, packets) if with_envelope else None,
        page_loads=_page_loads(result, trial),
        sharing=None if sized or len(flows) < 2 else _sharing(trial, packets, flows, (t0_ns, t1_ns)),
        parameters=tuple(estimates(result, families)) if families else (),
        waterfalls=_waterfalls(result, trial),
        recoveries=recovery.of(result, trial),
        machines=machines.of(result, trial),
    )


def _sharing(
    trial: Trial, packets: pl.DataFrame, flows: tuple[FlowMeasures, ...], interval: tuple[int, int]
) -> Sharing:
    throughputs_mbps = [flow.throughput_mbps for flow in flows]
    return sharing.of(trial, packets, throughputs_mbps, rate_steps(trial.network), interval)


def is_sized(flow: Flow) -> bool:
    """Does the flow end by itself?"""
    return bool(flow.size_bytes or flow.page)


def _page_loads(result: TrialResult, trial: Trial) -> tuple[PageLoad, ...]:
    if not any(flow.page for flow in trial.flows):
        return ()
    return tuple(pageload.page_loads(result.objects, result.page_loads))


def _waterfalls(result: TrialResult, trial: Trial) -> tuple[Waterfall, ...]:
    if not any(flow.page for flow in trial.flows):
        return ()
    rtts_ms = [flow.rtt_ms or trial.network.rtt_ms for flow in trial.flows]
    return tuple(waterfall.waterfalls(result.objects, result.page_loads, result.packets, rtts_ms))


def confirmed_cca(manifest: dict[str, Any], flow: int) -> str | None:
    """The CCA as the sender's stack named it, or None."""
    events = manifest["endpoints"].get(f"flow{flow}.sender", [])
    names = [event.get("confirmed") for event in events if event.get("event") == "cca"]
    return next((str(name) for name in names if name is not None), None)


def _flows(
    trial: Trial, manifest: dict[str, Any], packets: pl.DataFrame, interval: tuple[int, int]
) -> tuple[FlowMeasures, ...]:
    count = len(trial.flows)
    rates = throughput.throughput(packets, count, *interval)["throughput_mbps"].to_list()
    shares = fairness.shares(rates).tolist()
    delays = _by_flow(queueing.delay_summary(packets, *interval))
    losses = _losses(manifest, packets)
    queue_losses = loss.queue_loss_ratios(packets, count, *interval)
    if any(is_sized(flow) for flow in trial.flows):
        shares = [math.nan] * count
        for number, span in _spans_ns(trial, packets).items():
            rates[number] = throughput.throughput(packets, count, *span)["throughput_mbps"][number]
            delays[number] = _by_flow(queueing.delay_summary(packets, *span))[number]
    found = []
    for number, flow in enumerate(trial.flows):
        delay = delays.get(number, {})
        found.append(
            FlowMeasures(
                throughput_mbps=rates[number],
                share=shares[number],
                delay_p50_ms=delay.get("p50_ms"),
                delay_p95_ms=delay.get("p95_ms"),
                delay_p99_ms=delay.get("p99_ms"),
                queue_loss_percent=_percent(losses[number]["queue_loss_ratio"]),
                random_loss_percent=_percent(losses[number]["random_loss_ratio"]),
                interval_queue_loss_percent=None if is_sized(flow) else _percent(queue_losses[number]),
                requested_cca=flow.contestant.cca,
                confirmed_cca=confirmed_cca(manifest, number),
                completion_s=_completion_s(trial, manifest, number, packets),
            )
        )
    return tuple(found)


def _by_flow(frame: pl.DataFrame) -> dict[int, dict[str, Any]]:
    return {row["flow"]: row for row in frame.to_dicts() if row["flow"] is not None}


def _spans_ns(trial: Trial, packets: pl.DataFrame) -> dict[int, tuple[int, int]]:
    """First arrival and just after the last departure of each flow of fixed size."""
    spans = completion.flow_spans(packets, len(trial.flows)).to_dicts()
    return {
        number: (spans[number]["first_arrival_ns"], spans[number]["last_departure_ns"] + 1)
        for number, flow in enumerate(trial.flows)
        if is_sized(flow) and spans[number]["last_departure_ns"] is not None
    }


def _losses(manifest: dict[str, Any], packets: pl.DataFrame) -> list[dict[str, Any]]:
    links = [flow["forward"][0] for flow in manifest["guest"]["counters"]["flows"]]
    offered = [link["sent_packets"] + link["dropped_packets"] + link["backlog_packets"] for link in links]
    return loss.loss(packets, offered, [link["dropped_packets"] for link in links]).to_dicts()


def _percent(ratio: float | None) -> float | None:
    return None if ratio is None else 100 * ratio


def _completion_s(trial: Trial, manifest: dict[str, Any], number: int, packets: pl.DataFrame) -> float | None:
    events = manifest["endpoints"].get(f"flow{number}.receiver", [])
    complete = any(event.get("event") == "done" and event.get("complete") for event in events)
    if not is_sized(trial.flows[number]) or not complete:
        return None
    span = _spans_ns(trial, packets).get(number)
    return None if span is None else (span[1] - span[0]) / NS_PER_S


def rate_steps(network: Network) -> list[tuple[int, float]]:
    """The bottleneck's rate as steps ``(from_ns, rate_mbps)``; empty for a trace."""
    if network.rate_mbps is None:
        return []
    changes = [
        (round(change.at_s * NS_PER_S), change.rate_mbps)
        for change in network.schedule
        if change.rate_mbps is not None
    ]
    return [(0, network.rate_mbps), *changes]


def _utilisation(network: Network, packets: pl.DataFrame, t0_ns: int, t1_ns: int) -> float | None:
    rates = rate_steps(network)
    if not rates:
        return None
    return utilisation.utilisation(packets, utilisation.capacity_bits(rates, t0_ns, t1_ns), t0_ns, t1_ns)


def _envelope(trial: Trial, packets: pl.DataFrame) -> Envelope | None:
    rtt_ms = trial.flows[0].rtt_ms or trial.network.rtt_ms
    try:
        return envelope.imc22(packets, 0, rtt_ms, trial.duration_s)
    except envelope.TooFewSamples:
        return None
