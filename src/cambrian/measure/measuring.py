"""Measure one valid trial."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from cambrian.judging.families import Family
from cambrian.judging.flow_traces import estimates, flow_traces
from cambrian.measure import flow_ends, machines, recovery, sharing
from cambrian.measure.flow_window import FlowMeasures, FlowWindow, TrialWindow, is_sized
from cambrian.measure.quantities import OF_WINDOWS
from cambrian.measure.settled import settled
from cambrian.measure.sharing import Sharing
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics import envelope, fairness, pageload, utilisation, waterfall
from cambrian.metrics.columns import NS_PER_MS, NS_PER_S
from cambrian.metrics.envelope import Envelope
from cambrian.metrics.pageload import PageLoad
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.payload import Protocol
from cambrian.metrics.recovery import FlowRecovery
from cambrian.metrics.waterfall import Waterfall
from cambrian.probes import reading, table
from cambrian.probes.probed_flow import ProbedFlow
from cambrian.probes.reading import Readings
from cambrian.store.results import TrialResult
from cambrian.study.model import Network, Trial


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
        families: the algorithm of each flow's reference; None for a flow without one.
        protocols: the protocol of each flow; None if unknown.
        measured_from_s: start of the measured interval, if the study sets it.
    """
    packets = result.packets
    trial = Trial.model_validate(result.manifest["trial"])
    window = trial_window(result, trial, protocols, measured_from_s)
    t0_ns, t1_ns = window.interval
    flows = flow_measures(window)
    recoveries = recovery.flow_recoveries(result, trial)
    return TrialMeasures(
        id=result.id,
        folder=result.folder,
        trial=trial,
        t0_ns=t0_ns,
        t1_ns=t1_ns,
        flows=flows,
        jain=fairness.jain(window.shared_mbps) if window.shared_mbps else math.nan,
        utilisation=_utilisation(trial.network, packets, t0_ns, t1_ns),
        envelope=_envelope(trial, packets) if with_envelope else None,
        page_loads=_page_loads(result, trial),
        sharing=None if window.has_sized_flow or len(flows) < 2 else _sharing(window),
        parameters=_parameters(result, trial, families),
        waterfalls=_waterfalls(result, trial),
        recoveries=recoveries,
        machines=machines.flow_machines(result, trial),
        probes=_probes(result, trial, families, recoveries[0]),
        settled=settled(trial, packets, rate_steps(trial.network), t0_ns, t1_ns),
    )


def trial_window(
    result: TrialResult,
    trial: Trial,
    protocols: Sequence[Protocol | None] = (),
    measured_from_s: float | None = None,
) -> TrialWindow:
    """What the quantities of a trial's flows are measured from; parameters as :func:`measure`."""
    interval = measured_ns(result, trial, measured_from_s)
    return TrialWindow(result, trial, interval, rate_steps(trial.network), protocols)


def measured_ns(result: TrialResult, trial: Trial, measured_from_s: float | None = None) -> tuple[int, int]:
    """The trial's measured interval in ns, see :meth:`cambrian.study.model.Trial.measured_ns`.

    Without an endless flow there is no warm-up to leave out: the interval is from the first client's start to
    the last flow's end, also if the study sets ``measured_from_s``. So all such trials are measured by one
    rule, however early they end.
    """
    if any(not is_sized(flow) for flow in trial.flows):
        return trial.measured_ns(result.manifest["guest"]["end_ns"], measured_from_s)
    begin_ns = round(min(flow.start_ms for flow in trial.flows) * NS_PER_MS)
    end_ns = max(flow_ends.end_ns(result, number) for number in range(len(trial.flows)))
    return (begin_ns, end_ns) if begin_ns < end_ns else (0, end_ns)


def flow_measures(window: TrialWindow) -> tuple[FlowMeasures, ...]:
    """Every quantity of every flow's window."""
    return tuple(_flow(flow) for flow in window.flows)


def _flow(window: FlowWindow) -> FlowMeasures:
    figures = {one.name: one.window(window) for one in OF_WINDOWS if one.window is not None}
    return FlowMeasures(figures, window.flow.contestant.cca, window.confirmed_cca)


def _parameters(
    result: TrialResult, trial: Trial, families: Sequence[Family | None]
) -> tuple[tuple[Estimate | Missing, ...], ...]:
    if not families or table.is_for_probes_alone(trial.network.name):
        return ()
    return tuple(estimates(result, families))


def _probes(
    result: TrialResult,
    trial: Trial,
    families: Sequence[Family | None],
    recovered: FlowRecovery | None,
) -> Readings:
    family, network, page = families[0] if families else None, trial.network, trial.flows[0].page
    loads = page.name if page else None
    asked = family is not None and any(
        one.is_shown_by(network.name, family.reference, len(trial.flows), loads) for one in table.probes()
    )
    if not asked or any(flow.size_bytes for flow in trial.flows):
        return {}
    flow = probed_flow(result, trial, families)
    if flow is None:
        return {}
    return reading.read(replace(flow, false_losses=recovered.false_losses if recovered else None))


def probed_flow(result: TrialResult, trial: Trial, families: Sequence[Family | None]) -> ProbedFlow | None:
    """The trial's first flow as probes see it; None if it has no family."""
    trace = flow_traces(result, families, pages=True)[0]
    if trace is None:
        return None
    page = trial.flows[0].page
    starts_ns = tuple(round(flow.start_ms * NS_PER_MS) for flow in trial.flows)
    end_ns = round(trial.duration_s * NS_PER_S)
    return ProbedFlow(trace, trial.network, result.packets, starts_ns, end_ns, page.name if page else None)


def _sharing(window: TrialWindow) -> Sharing:
    return sharing.measure_sharing(
        window.trial,
        window.packets,
        window.shared_mbps,
        window.rates,
        window.shared_interval,
        window.interval[1],
    )


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
