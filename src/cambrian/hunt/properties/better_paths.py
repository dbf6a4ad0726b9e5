"""A better path never halves the throughput: relations between two runs, which need no expected value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cambrian.hunt.properties import Property
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures

#: least throughput on the better path, of that on the other one
LEAST = 0.5


def _mbps(one: Figures) -> float:
    return float(one.value("throughput_mbps") or 0.0)


def _excess(trials: Sequence[Figures], situation: Situation) -> float:
    del situation
    worse, better = map(_mbps, trials)
    return (LEAST * worse - better) / (LEAST * worse) if worse else -1.0


def _shows(trials: Sequence[Figures], situation: Situation) -> str:
    del situation
    worse, better = map(_mbps, trials)
    return f"{worse:.2f} Mbps become {better:.2f} Mbps on the better path"


def _relation(
    name: str, what: str, better: Callable[[Situation], Situation], applies: Callable[[Situation], bool]
) -> Property:
    return Property(
        name=name,
        says=f"{what} never halves the throughput of a flow alone.",
        source="a metamorphic relation: it follows from no standard, and holds for the kernel",
        applies=lambda situation: situation.change == "none" and applies(situation),
        excess=_excess,
        shows=_shows,
        variants=lambda situation: (situation, better(situation)),
    )


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
)
