"""One state machine as marks: discs at fixed places, ribbons between them.

A state's disc grows with its share of the time. A transition is a ribbon, broad at its start and pointed
at its end (tapered edges: Holten and van Wijk, CHI 2009); frequent transitions are broader. Ribbons
bend to their left, so the two directions between two states do not overlap.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import FloatArray
from cambrian.metrics.states import vocabulary
from cambrian.metrics.states.machine import Transition
from cambrian.metrics.states.pooled import Pooled
from cambrian.metrics.states.vocabulary import words
from cambrian.metrics.states.wording import percent

#: pixels of one unit of a place; a panel's width varies, but ribbons are cut at discs for this width
HEIGHT, WIDTH = 190, 320
#: units above the highest disc and below the lowest that ribbons and labels take
_ABOVE, _BELOW = 0.2, 0.35
#: square pixels: a disc for 100 % of the time, and what is added to every disc
_DISC, _LEAST_DISC = 1100.0, 60.0
#: pixels: the broadest ribbon, and the narrowest
_BROADEST, _NARROWEST = 10.0, 2.5
#: how far a ribbon bends, as a share of its length, and its number of points
_BEND, _POINTS = 0.16, 15

Places = dict[str, tuple[float, float]]
#: where each state stands, x to the right and y upwards in [0, 1]
_LOSS_BASED: Places = {
    vocabulary.INIT: (0.12, 1.0),
    vocabulary.SLOW_START: (0.12, 0.7),
    vocabulary.CONSERVATIVE_SLOW_START: (0.14, 0.15),
    vocabulary.CONGESTION_AVOIDANCE: (0.5, 0.62),
    vocabulary.CONGESTION_AVOIDANCE_MAXED: (0.5, 1.0),
    vocabulary.APPLICATION_LIMITED: (0.5, 0.08),
    vocabulary.RECOVERY: (0.87, 0.7),
    vocabulary.TAIL_LOSS_PROBE: (0.87, 1.0),
    vocabulary.RETRANSMISSION_TIMEOUT: (0.84, 0.15),
}
_BBR: Places = {
    vocabulary.STARTUP: (0.12, 0.85),
    vocabulary.DRAIN: (0.12, 0.25),
    vocabulary.PROBE_BW: (0.5, 0.62),
    vocabulary.PROBE_BW_UP: (0.5, 0.95),
    vocabulary.PROBE_BW_DOWN: (0.85, 0.85),
    vocabulary.PROBE_BW_CRUISE: (0.6, 0.42),
    vocabulary.PROBE_BW_REFILL: (0.3, 0.62),
    vocabulary.PROBE_RTT: (0.87, 0.15),
    vocabulary.TAIL_LOSS_PROBE: (0.87, 0.7),
    vocabulary.RETRANSMISSION_TIMEOUT: (0.42, 0.05),
}


@dataclass(frozen=True)
class Graph:
    """The marks of a machine.

    ``discs``: ``x``, ``y``, ``area`` (square pixels), ``label`` (lines separated by ``|``), ``hint``.
    ``ribbons``: ``x``, ``y``, ``breadth`` (pixels), ``ribbon``, ``point``. ``rates``: ``x``, ``y``,
    ``label`` at the middle of each ribbon: transitions per trial.
    """

    discs: pl.DataFrame
    ribbons: pl.DataFrame
    rates: pl.DataFrame


def reach(machines: Iterable[Pooled]) -> tuple[float, float]:
    """Lowest and highest y of these machines, labels and ribbons included."""
    heights = [_places(machine)[share.state][1] for machine in machines for share in machine.states]
    return min(heights) - _BELOW, max(heights) + _ABOVE


def often(machine: Pooled) -> dict[Transition, float]:
    """Transition → how many times per trial it was taken."""
    return {rate.transition: rate.count / machine.trials for rate in machine.transitions}


def graph(machine: Pooled, *, lift: float, most: float) -> Graph:
    """One machine's marks, moved up by ``lift``; ``most``: transitions per trial of the broadest ribbon."""
    places = {state: (x, y + lift) for state, (x, y) in _places(machine).items()}
    shares = {state.state: state.share.estimate for state in machine.states}
    areas = {state: _LEAST_DISC + _DISC * share for state, share in shares.items()}
    discs = [
        {
            "x": places[state][0],
            "y": places[state][1],
            "area": areas[state],
            "label": f"{_broken(words(state))}|{percent(share).replace('less than ', '< ')}",
            "hint": f"{words(state)}: {100 * share:.2f} % of the time",
        }
        for state, share in shares.items()
    ]
    ribbons, rates = [], []
    for number, ((start, end), count) in enumerate(often(machine).items()):
        curve = _curve(places[start], places[end], areas[start], areas[end])
        breadth = max(_BROADEST * math.sqrt(count / most), _NARROWEST)
        for point, (x, y) in enumerate(curve):
            size = breadth * (1 - point / (_POINTS - 1)) + 0.3
            ribbons.append({"x": x, "y": y, "breadth": size, "ribbon": number, "point": point})
        middle = curve[_POINTS // 2]
        rates.append({"x": middle[0], "y": middle[1], "label": _count(count)})
    return Graph(
        pl.DataFrame(discs),
        pl.DataFrame(ribbons, schema=_RIBBONS),
        pl.DataFrame(rates, schema={"x": pl.Float64, "y": pl.Float64, "label": pl.String}),
    )


_RIBBONS = {
    "x": pl.Float64,
    "y": pl.Float64,
    "breadth": pl.Float64,
    "ribbon": pl.Int64,
    "point": pl.Int64,
}


def _places(machine: Pooled) -> Places:
    states = [one.state for one in machine.states]
    # both tables have the states of probes and timeouts
    table = _BBR if {*states} & (_BBR.keys() - _LOSS_BASED.keys()) else _LOSS_BASED
    unknown = [state for state in states if state not in table]
    return table | {state: ((n + 1) / (len(unknown) + 1), -0.12) for n, state in enumerate(unknown)}


def _curve(near: tuple[float, float], far: tuple[float, float], area: float, far_area: float) -> FloatArray:
    """Points of a bent line from disc to disc, shape (_POINTS, 2), in the places' units."""
    scale = np.array([WIDTH, HEIGHT])
    start, end = np.array(near) * scale, np.array(far) * scale
    along = end - start
    control = (start + end) / 2 + 2 * _BEND * np.array([-along[1], along[0]])
    length = max(float(np.hypot(*along)), 1.0)
    # the bent line is only slightly longer than its chord: cut it by the chord's share
    cut, far_cut = (min(math.sqrt(a / math.pi) / length, 0.4) for a in (area, far_area))
    t = np.linspace(cut, 1 - far_cut, _POINTS)[:, None]
    points: FloatArray = ((1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end) / scale
    return points


def _count(value: float) -> str:
    return f"{value:.0f}" if value >= 9.95 or value == round(value) else f"{value:.1f}"


def _broken(name: str) -> str:
    """A long name, broken into lines of at most 12 characters."""
    return "|".join(textwrap.wrap(name, 12))
