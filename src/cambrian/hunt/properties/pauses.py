"""A flow with data to send is never silent for long."""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.hunt.properties import Property
from cambrian.hunt.situation import BLACKOUT_S, Situation
from cambrian.measure.figures import Figures

#: a retransmission timeout may be 1 s, and one may be lost
_LEAST_MS = 3000.0
_ROUND_TRIPS = 10


def _most_ms(situation: Situation) -> float:
    longest_rtt_ms = situation.rtt_ms * (3 if situation.change == "three times the RTT" else 1)
    down_ms = 2 * BLACKOUT_S * 1000 if situation.change == "blackout" else 0
    return max(_ROUND_TRIPS * longest_rtt_ms, _LEAST_MS) + down_ms


def _pause_ms(trials: Sequence[Figures]) -> float:
    return float(trials[0].value("longest_pause_ms") or 0.0)


PROPERTIES = (
    Property(
        name="no-silence",
        says="With data to send a flow is never silent for ten round trips or 3 s (and twice a blackout).",
        source="RFC 9002, section 6.2.1; RFC 6298, section 2",
        applies=lambda situation: situation.loss_percent <= 1,
        excess=lambda trials, situation: _pause_ms(trials) / _most_ms(situation) - 1,
        shows=lambda trials, situation: (
            f"it sends nothing for {_pause_ms(trials) / 1000:.1f} s; "
            f"{_most_ms(situation) / 1000:.1f} s are allowed"
        ),
    ),
)
