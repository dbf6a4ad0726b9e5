"""Check the window that a stack logs against its packets.

A stack's log may be wrong. If window and packets contradict each other, that is a finding of its own,
and neither is used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from cambrian.judging.findings import FEWEST_TRIALS, value_text
from cambrian.judging.references import Reference
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.metrics.parameters.estimate import Measured, Source

#: how far the flight may stay below the largest window, as a share of it: pacing, headers, the last packet.
#: A first flight may stay below its window for many reasons: pacing, a small object
_BELOW_WINDOW = {"max_window_packets": 0.1, "initial_window_packets": math.inf}
#: parameters that both sources measure in the same events; pacing and bursts come from different times, and a
#: flight that is soon back does not show whether its window was taken back or grew
_COMPARED = frozenset({"beta", "alpha", *_BELOW_WINDOW})
#: its estimate by packets is itself a comparison with the log's window: so many round trips show that the two
#: exclude each other
_BEYOND, _MOST_TRIPS = "beyond_window", 0.5


@dataclass(frozen=True)
class Contradiction:
    """``text``: both values. ``confirmed``: in more than one differing trial, or on several networks."""

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
    """The contradiction, if the intervals from window and packets lie farther apart than the tolerance.

    None if they agree, if one of the two is missing, or if one has too few events. Packets alone show whether
    the flight is beyond the log's window.
    """
    window, packets = measured.get((name, "window")), measured.get((name, "packets"))
    if name == _BEYOND and reference is not None and packets is not None:
        return _beyond(network, packets, window, reference)
    if name not in _COMPARED or reference is None or window is None or packets is None:
        return None
    if min(window.events, packets.events) < PARAMETERS[name].fewest:
        return None
    below = _BELOW_WINDOW[name] * window.value if name in _BELOW_WINDOW else reference.tolerance
    if window.low - packets.high <= below and packets.low - window.high <= reference.tolerance:
        return None
    text = (
        f"{PARAMETERS[name].title} is {value_text(window)} in the stack's log and {value_text(packets)} by "
        "its packets"
    )
    if name == "beta" and packets.high < window.low:
        cuts = measured.get(("cuts_per_episode", "window"))
        if cuts is not None and cuts.low > 1:
            text += ": it reduces more than once for each congestion event"
        else:
            text += (
                ": its flight falls by more than its window, as if it reduced more than once or counted lost "
                "packets as in flight"
            )
    elif name == "beta" and packets.low > window.high:
        text += ": its flight falls by less than its window, so it may not fill the window before a loss"
    elif name == "initial_window_packets":
        text += ": its window grows before the first data is acknowledged"
    return Contradiction(network, name, text, min(window.trials, packets.trials) >= FEWEST_TRIALS)


def _beyond(
    network: str, packets: Measured, log: Measured | None, reference: Reference
) -> Contradiction | None:
    """The flight is beyond the log's window, and the log's own bytes in flight do not say so.

    Either the sender does not keep to its window, or the log has another one: nothing tells which.
    """
    admitted = log is not None and log.low > reference.tolerance
    if admitted or packets.events < PARAMETERS[_BEYOND].fewest or packets.low <= _MOST_TRIPS:
        return None
    text = (
        f"the log's window and the packets exclude each other: {PARAMETERS[_BEYOND].title} is "
        f"{value_text(packets)} by its packets"
    )
    if log is not None:
        text += f" and {value_text(log)} in the stack's log"
    return Contradiction(network, _BEYOND, text, packets.trials >= FEWEST_TRIALS)
