"""Read the figure of each probe from one trial's first flow, the contestant's."""

from __future__ import annotations

from cambrian.probes import table
from cambrian.probes.figures import Figure, NoFigure, NotInNetwork
from cambrian.probes.probed_flow import ProbedFlow

#: probe → its figure, or why there is none
Readings = dict[str, Figure | NoFigure]


def read(flow: ProbedFlow) -> Readings:
    """The figures of all probes that this network and these flows show."""
    return {
        probe.name: _one(probe, flow)
        for probe in table.probes()
        if probe.is_shown_by(flow.network.name, flow.trace.family, len(flow.starts_ns), flow.page)
    }


def _one(probe: table.Probe, flow: ProbedFlow) -> Figure | NoFigure:
    try:
        return probe.function(flow)
    except NotInNetwork as absent:
        return NoFigure(str(absent))
