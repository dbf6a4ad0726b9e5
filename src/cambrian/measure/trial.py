"""The measurements of one valid trial, from which all tables and charts start."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from cambrian.measure.flow_window import FlowMeasures
from cambrian.measure.settled import Settled
from cambrian.measure.sharing import Sharing
from cambrian.metrics.columns import NS_PER_S
from cambrian.metrics.envelope import Envelope
from cambrian.metrics.pageload import PageLoad
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.recovery import FlowRecovery
from cambrian.metrics.states.machine import Machine
from cambrian.metrics.waterfall import Waterfall
from cambrian.probes.reading import Readings
from cambrian.study.model import Trial


@dataclass(frozen=True)
class TrialMeasures:
    """One valid trial.

    ``t0_ns`` to ``t1_ns`` is the measured interval (:func:`cambrian.measure.measuring.measured_ns`).
    ``envelope`` is flow 0's, by method ``imc22``; None if it was not requested or has no point.
    ``utilisation`` is None for a link that follows a trace; ``jain`` is NaN with a flow of
    fixed size, because its throughput covers another interval. A flow that loads a page has a fixed size;
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
    #: estimates of the controller's parameters, one tuple for each flow
    parameters: tuple[tuple[Estimate | Missing, ...], ...] = ()
    #: one for each flow that loads a page
    waterfalls: tuple[Waterfall, ...] = ()
    #: one for each flow; None if unknown
    recoveries: tuple[FlowRecovery | None, ...] = ()
    #: state machines, one for each flow; None if the stack exports neither states nor a window
    machines: tuple[Machine | None, ...] = ()
    #: the readings of this network's probes for the first flow (docs/reference/probes.md)
    probes: Readings = field(default_factory=dict)
    #: the part after slow start, of an endless flow alone
    settled: Settled | None = None

    @property
    def shown_s(self) -> float:
        """Seconds of the trial that a figure over time shows: all, or until its last page is complete."""
        if len(self.page_loads) < len(self.flows):
            return self.trial.duration_s
        return math.ceil(self.t1_ns / NS_PER_S * 10) / 10
