"""A bulk flow fills its packets."""

from __future__ import annotations

from cambrian.hunt.properties import bounded
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures
from cambrian.metrics.columns import int64
from cambrian.metrics.parameters.window import frame_of_share


def _usual_bytes(one: Figures, situation: Situation) -> float | None:
    """Half of the flow's bytes are in frames of this size or more."""
    del situation
    packets = one.result.packets
    sizes_bytes = int64(packets.filter(packets["flow"] == 0), "size_bytes")
    return float(frame_of_share(sizes_bytes, 0.5)) if len(sizes_bytes) else None


PROPERTIES = (
    bounded(
        "full-packets",
        says="Half of the bytes of a flow with data to send are in frames of {least:g} bytes or more.",
        source="RFC 9000, section 14: each path carries datagrams of 1,200 bytes; RFC 1122, section 4.2.3.4",
        applies=lambda one: one.is_steady,
        figure=_usual_bytes,
        least=1000.0,
        shows="half of its bytes are in frames of {value:.0f} bytes or more",
    ),
)
