"""One trial's figures: what every table and chart of a report starts from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from cambrian.judging.families import Family
from cambrian.judging.flow_traces import estimates, flow_traces
from cambrian.metrics import envelope, fairness, pageload, utilisation, waterfall
from cambrian.metrics.columns import NS_PER_MS, NS_PER_S
from cambrian.metrics.envelope import Envelope
from cambrian.metrics.pageload import PageLoad
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.payload import Protocol
from cambrian.metrics.recovery import FlowRecovery
from cambrian.metrics.states.machine import Machine
from cambrian.metrics.waterfall import Waterfall
from cambrian.probes import reading, table
from cambrian.probes.reading import Readings
from cambrian.probes.seen import Seen
from cambrian.report import flow_measures, machines, recovery, sharing
from cambrian.report.flow_measures import FlowMeasures, is_sized
from cambrian.report.sharing import Sharing
from cambrian.store.results import TrialResult
from cambrian.study.model import Network, Trial


@dataclass(frozen=True)
class TrialMeasures:
    """One valid trial.

    ``t0_ns`` to ``t1_ns`` is the measured interval, as the study says or by
    :mod:`cambrian.run.measures`. ``envelope`` is flow 0's, by method ``imc22``; None where
    it was not asked for or has no point.
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
    #: what each probe of this network shows of the first flow (docs/probes.md)
    probes: Readings = field(default_factory=dict)

    @property
    def shown_s(self) -> float:
        """How much of the trial a line over time shows: all, or until the last of its pages was there."""
        if len(self.page_loads) < len(self.flows):
            return self.trial.duration_s
        return math.ceil(self.t1_ns / NS_PER_S * 10) / 10


def measure(
    result: TrialResult,
    *,
    with_envelope: bool,
    families: Sequence[Family | None] = (),
    protocols: Sequence[Protocol | None] = (),
    measured_from_s: float | None = None,
) -> TrialMeasures:
    """The figures of a valid trial.

    Parameters:
        families: what each flow's controller is judged as.
        protocols: what each flow runs over, where it is known.
        measured_from_s: where the measured interval begins, if the study says.
    """
    packets = result.packets
    trial = Trial.model_validate(result.manifest["trial"])
    t0_ns, t1_ns = trial.measured_ns(result.manifest["guest"]["end_ns"], measured_from_s)
    sized = any(is_sized(flow) for flow in trial.flows)
    flows = flow_measures.of(result, trial, (t0_ns, t1_ns), rate_steps(trial.network), protocols)
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
        parameters=_parameters(result, trial, families),
        waterfalls=_waterfalls(result, trial),
        recoveries=recovery.of(result, trial),
        machines=machines.of(result, trial),
        probes=_probes(result, trial, families),
    )


def _parameters(
    result: TrialResult, trial: Trial, families: Sequence[Family | None]
) -> tuple[tuple[Estimate | Missing, ...], ...]:
    if not families or table.is_for_probes_alone(trial.network.name):
        return ()
    return tuple(estimates(result, families))


def _probes(result: TrialResult, trial: Trial, families: Sequence[Family | None]) -> Readings:
    family, network, page = families[0] if families else None, trial.network, trial.flows[0].page
    loads = page.name if page else None
    asked = family is not None and any(
        one.is_shown_by(network.name, family.reference, len(trial.flows), loads) for one in table.probes()
    )
    if not asked or any(flow.size_bytes for flow in trial.flows):
        return {}
    trace = flow_traces(result, families, pages=True)[0]
    if trace is None:
        return {}
    starts_ns = tuple(round(flow.start_ms * NS_PER_MS) for flow in trial.flows)
    return reading.read(Seen(trace, network, result.packets, starts_ns, loads))


def _sharing(
    trial: Trial, packets: pl.DataFrame, flows: tuple[FlowMeasures, ...], interval: tuple[int, int]
) -> Sharing:
    throughputs_mbps = [flow.throughput_mbps for flow in flows]
    return sharing.of(trial, packets, throughputs_mbps, rate_steps(trial.network), interval)


def _page_loads(result: TrialResult, trial: Trial) -> tuple[PageLoad, ...]:
    if not any(flow.page for flow in trial.flows):
        return ()
    return tuple(pageload.page_loads(result.objects, result.page_loads))


def _waterfalls(result: TrialResult, trial: Trial) -> tuple[Waterfall, ...]:
    if not any(flow.page for flow in trial.flows):
        return ()
    rtts_ms = [flow.base_rtt_ms(trial.network) for flow in trial.flows]
    return tuple(waterfall.waterfalls(result.objects, result.page_loads, result.packets, rtts_ms))


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
    rtt_ms = trial.flows[0].base_rtt_ms(trial.network)
    try:
        return envelope.imc22(packets, 0, rtt_ms, trial.duration_s)
    except envelope.TooFewSamples:
        return None
