"""Relations between two runs, which need no expected value.

A better path never halves the throughput, and a path with other units has the same use of its link.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from cambrian.hunt.properties import Property, mbps
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures

#: least throughput on the better path, of that on the other one
LEAST = 0.5
#: factor of the rate and divisor of the round trip in the relation of scales
_SCALE = 2


def _excess(trials: Sequence[Figures], situation: Situation) -> float:
    del situation
    worse, better = map(mbps, trials)
    return 1 - better / (LEAST * worse) if worse else math.nan


def _shows(trials: Sequence[Figures], situation: Situation) -> str:
    del situation
    worse, better = map(mbps, trials)
    return f"{worse:.2f} Mbps become {better:.2f} Mbps on the better path"


def _relation(
    name: str, what: str, better: Callable[[Situation], Situation], applies: Callable[[Situation], bool]
) -> Property:
    return Property(
        name=name,
        says=f"{what} never halves the throughput of a flow alone.",
        source="a metamorphic relation: it follows from no standard, and holds for the kernel",
        applies=lambda situation: situation.is_steady and applies(situation),
        excess=_excess,
        shows=_shows,
        variants=lambda situation: (situation, better(situation)),
    )


def _used(trials: Sequence[Figures], situation: Situation) -> tuple[float, float]:
    """Parts of the link that are used: of the situation's, and of the scaled one's."""
    rates = (situation.rate_mbps, _SCALE * situation.rate_mbps)
    one, other = (mbps(trial) / rate for trial, rate in zip(trials, rates, strict=True))
    return one, other


def _scaled_excess(trials: Sequence[Figures], situation: Situation) -> float:
    used = _used(trials, situation)
    return 1 - min(used) / (LEAST * max(used)) if max(used) else math.nan


def _scaled_shows(trials: Sequence[Figures], situation: Situation) -> str:
    one, other = _used(trials, situation)
    return f"it uses {100 * one:.0f} % of the link, and {100 * other:.0f} % of the scaled one"


PROPERTIES = (
    _relation(
        "more-buffer",
        "Twice the buffer",
        lambda one: one.changed(buffer_bdp=2 * one.buffer_bdp),
        lambda one: one.queue == "droptail",
    ),
    _relation(
        "more-rate",
        "Twice the rate, with the same buffer in BDP,",
        lambda one: one.changed(rate_mbps=2 * one.rate_mbps),
        lambda one: True,
    ),
    _relation(
        "less-loss",
        "A tenth of the random loss",
        lambda one: one.changed(loss_percent=one.loss_percent / 10),
        lambda one: one.loss_percent > 0,
    ),
    _relation(
        "shorter-path",
        "Half the round-trip time, with the same buffer in bytes,",
        lambda one: one.changed(rtt_ms=one.rtt_ms / 2, buffer_bdp=2 * one.buffer_bdp),
        lambda one: one.rtt_ms >= 20,
    ),
    Property(
        name="scales",
        says="With twice the rate, half the round-trip time and the same buffer in packets, a flow uses the "
        "same part of the link, within a factor of two.",
        source="RFC 5681: Reno's window counts packets and round trips; CUBIC and BBR also count seconds",
        applies=lambda one: (
            one.is_steady and one.queue == "droptail" and not one.jitter_ms and one.rtt_ms >= 20
        ),
        excess=_scaled_excess,
        shows=_scaled_shows,
        variants=lambda one: (one, one.changed(rate_mbps=_SCALE * one.rate_mbps, rtt_ms=one.rtt_ms / _SCALE)),
        families=("reno",),
    ),
)
