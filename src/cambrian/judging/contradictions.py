"""What a stack says of its window against what its packets do.

A stack's own log is a witness, not the truth. Where its window and its packets exclude each other, that
is a finding of its own, and neither of the two is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cambrian.judging.findings import FEWEST_TRIALS, value_text
from cambrian.judging.references import Reference
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.metrics.parameters.estimate import Measured, Source

#: what both show of the same events; pacing and bursts are of other times in the two
_COMPARED = frozenset({"beta", "alpha", "rollback_share", "max_window_packets"})


@dataclass(frozen=True)
class Contradiction:
    """``text``: what each says. ``confirmed``: in more than one differing trial, or on several networks."""

    network: str
    parameter: str
    text: str
    confirmed: bool


def contradicts(
    network: str,
    measured: Mapping[tuple[str, Source], Measured],
    name: str,
    reference: Reference | None,
) -> Contradiction | None:
    """Do the window's interval and the packets' lie farther apart than the parameter's tolerance?

    Both must rest on enough events. None where they agree, or one is missing.
    """
    window, packets = measured.get((name, "window")), measured.get((name, "packets"))
    if name not in _COMPARED or reference is None or window is None or packets is None:
        return None
    if min(window.events, packets.events) < PARAMETERS[name].fewest:
        return None
    if max(window.low - packets.high, packets.low - window.high) <= reference.tolerance:
        return None
    text = (
        f"{PARAMETERS[name].title}: the window says {value_text(window)}, the packets {value_text(packets)}"
    )
    if name == "beta" and packets.high < window.low:
        text += ": it is cut more than once an event"
    return Contradiction(network, name, text, min(window.trials, packets.trials) >= FEWEST_TRIALS)
