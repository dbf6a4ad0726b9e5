"""A flow alone carries about as much as kernel TCP of the same algorithm in its place, and loses no more."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import polars as pl

from cambrian.hunt.properties import Property, mbps
from cambrian.hunt.properties.floods import percent
from cambrian.hunt.situation import Situation
from cambrian.measure.figures import Figures
from cambrian.metrics.gates.capture import FRAME_BYTES

#: four clean controllers (of quinn, quic-go and the lab stack) have 0.89 to 1.30 times the kernel's
#: throughput on a path that stays as it is, behind a droptail queue; with an AQM or changes, 0.82 to 1.55
FACTOR, FACTOR_OF_OTHERS = 1.5, 2.0
#: with more random loss, timers decide
_MOST_LOSS_PERCENT = 1.0
#: losses of the path itself in kernel TCP's trial: the window of slow start is forgotten after some seven
_LEAST_LOSSES = 20
#: behind a shorter queue, pacing alone makes CUBIC carry up to 1.8 times as much as the kernel's, which has
#: none (quic-go, quinn, noq and tquic: 20 Mbps, 50 ms, 0.1 BDP)
_LEAST_BUFFER_BDP = 0.5
#: added to both percentages of drops, so that a few packets are no factor
_FEW_DROPS_PERCENT, _DROPS_FACTOR = 1.0, 3.0
_SOURCE = "the name of an algorithm stands for its specification: RFC 5681, RFC 9438"


def _drops_percent(one: Figures, situation: Situation) -> float:
    return percent(pl.col("outcome") == "dropped")(one, situation) or 0.0


def _factor(situation: Situation) -> float:
    return FACTOR if situation.event == "none" and situation.queue == "droptail" else FACTOR_OF_OTHERS


def _applies(one: Situation) -> bool:
    """Not with strictly periodic loss: there the kernel's CUBIC has a fixed point of its own.

    Its window counts whole segments, so it reaches its last maximum early, and loses there again. At 20 Mbps,
    200 ms and every 1000th packet it has 4.3 Mbps; RFC 9438's formula says 3.4.
    """
    ordered = not (one.jitter_ms or one.reorder_percent or one.loss_every_packets)
    return one.is_alone and ordered and one.loss_percent <= _MOST_LOSS_PERCENT


def _applies_to_more(one: Situation) -> bool:
    return _applies(one) and one.least_buffer_bdp >= _LEAST_BUFFER_BDP


def _kernel_mbps(trials: Sequence[Figures], situation: Situation) -> float:
    """Kernel TCP's throughput; NaN if it says little: without losses enough that both forget slow start.

    20 Mbps, 200 ms, every 1000th packet lost: kernel TCP's CUBIC has 5.2 Mbps in 24 s, with ten losses, and
    4.3 in 129 s.
    """
    kernel = mbps(trials[1])
    packets = kernel * 1e6 / 8 / FRAME_BYTES * situation.duration_s
    has_losses = not situation.loss_ratio or packets * situation.loss_ratio >= _LEAST_LOSSES
    return kernel if kernel and has_losses else math.nan


def _less(trials: Sequence[Figures], situation: Situation) -> float:
    # a Reno that counts acknowledgements, and not bytes, grows half as fast (RFC 5681, section 3.1), and at
    # random loss carries 0.71 times as much as the kernel's: too near to two thirds
    factor = FACTOR_OF_OTHERS if situation.loss_ratio else _factor(situation)
    return 1 - mbps(trials[0]) / (_kernel_mbps(trials, situation) / factor)


def _more(trials: Sequence[Figures], situation: Situation) -> float:
    return mbps(trials[0]) / (_kernel_mbps(trials, situation) * _factor(situation)) - 1


def _more_drops(trials: Sequence[Figures], situation: Situation) -> float:
    own, kernel = (_drops_percent(one, situation) + _FEW_DROPS_PERCENT for one in trials)
    return own / (_DROPS_FACTOR * kernel) - 1


def _shows_mbps(trials: Sequence[Figures], situation: Situation) -> str:
    del situation
    own, kernel = map(mbps, trials)
    return f"it carries {own:.2f} Mbps, kernel TCP in its place {kernel:.2f} Mbps"


def _shows_drops(trials: Sequence[Figures], situation: Situation) -> str:
    own, kernel = (_drops_percent(one, situation) for one in trials)
    return f"the queue drops {own:.1f} % of its packets, and {kernel:.1f} % of kernel TCP's in its place"


def _property(
    name: str,
    says: str,
    excess: Callable[[Sequence[Figures], Situation], float],
    shows: Callable[[Sequence[Figures], Situation], str],
    applies: Callable[[Situation], bool] = _applies,
) -> Property:
    return Property(
        name=name,
        says=says,
        source=_SOURCE,
        applies=applies,
        excess=excess,
        shows=shows,
        beside_kernel=True,
        with_kernel=True,
    )


PROPERTIES = (
    _property(
        "carries-as-much",
        "Alone, without reordering and with little random loss, a flow carries at least two thirds of what "
        "kernel TCP carries in its place, or half where packets are lost at random, the path changes or the "
        "queue is an AQM.",
        _less,
        _shows_mbps,
    ),
    _property(
        "carries-no-more",
        f"Alone, behind {_LEAST_BUFFER_BDP:g} BDP or more, without reordering and with little random loss, a "
        "flow carries at most one and a half times what kernel TCP carries in its place, or twice where the "
        "path changes or the queue is an AQM.",
        _more,
        _shows_mbps,
        _applies_to_more,
    ),
    _property(
        "drops-no-more",
        "After half of the trial, a flow alone has at most three times the percentage of drops of kernel TCP "
        "in its place, and 2 % of its packets more.",
        _more_drops,
        _shows_drops,
    ),
)
