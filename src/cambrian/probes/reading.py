"""Read the figure of each probe from one trial's first flow, the contestant's."""

from __future__ import annotations

from cambrian.probes import table
from cambrian.probes.figures import Figure, Unseen
from cambrian.probes.seen import Seen

#: probe → its figure, or why there is none
Readings = dict[str, Figure | Unseen]


def read(seen: Seen) -> Readings:
    """The figures of all probes that this network and these flows show."""
    return {
        probe.name: probe.function(seen)
        for probe in table.probes()
        if probe.is_shown_by(seen.network.name, seen.trace.family, len(seen.starts_ns), seen.page)
    }
