"""Every probe's figure of the contestant in one trial: of its first flow."""

from __future__ import annotations

from cambrian.probes import table
from cambrian.probes.figures import Figure, Unseen
from cambrian.probes.seen import Seen

#: probe → its figure, or why there is none
Readings = dict[str, Figure | Unseen]


def read(seen: Seen) -> Readings:
    """The probes that this network shows."""
    return {
        probe.name: probe.function(seen)
        for probe in table.probes()
        if probe.is_shown_by(seen.network.name, seen.trace.family, len(seen.starts_ns), seen.page)
    }
