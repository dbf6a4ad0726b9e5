"""Compare two sides' figures: ratio or difference with its interval, and the state by the margin.

If a flow is alone and the network has no randomness (no random loss, jitter…), a seed only moves the flow's
start and trials hardly differ: the *range* over the seeds is compared with the margin. Otherwise it is the
95 % Student interval of the mean over seeds, of which at least three are needed. Both are widened by the
measure's resolution.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from cambrian.probes.figures import Figure
from cambrian.probes.table import Probe
from cambrian.stats.compare import against
from cambrian.stats.jackknife import CONFIDENCE, FEWEST_SEEDS
from cambrian.stats.states import State

#: fewer trials are inconclusive
FEWEST_TRIALS = 2
MOST_SEEDS = 1000
#: lower limit of each side of a ratio: a flow that carries nothing has no logarithm
_LEAST = 1e-3

#: seed → its trial's figure
Side = Mapping[int, Figure]


@dataclass(frozen=True)
class Compared:
    """``effect`` with its interval ``low`` to ``high`` (infinite if unknown): a ratio, or a difference.

    ``margin``: the effects, lowest and highest, that are equivalent; infinite on a side without a limit.
    ``more``: additional seeds that would settle an inconclusive state, as ``settles_as``; None if unknown.
    """

    state: State
    effect: float
    low: float
    high: float
    seeds: int
    more: int | None
    settles_as: State | None
    ratio: float | None
    margin: tuple[float, float]


def compare(probe: Probe, mine: Side, its: Side, *, drawn: bool, allowed: Sequence[float] = ()) -> Compared:
    """Compare ``mine`` with ``its``, seed by seed, or with the probe's bound.

    ``drawn``: the network has randomness, or flows compete. ``allowed``: values by theory; the margin
    then reaches from the probe's margin below the lowest of these and the kernel to that above the highest:
    agreement with one is enough.
    """
    values = _effects(probe, mine, its)
    resolution = _resolution(probe, mine, its)
    mean, low, high = _ends(values, resolution, drawn=drawn)
    margin = _margin(probe, its, allowed)
    state = _state(low, high, margin) if len(values) >= FEWEST_TRIALS else "inconclusive"
    more = _more(values, resolution, margin, drawn=drawn) if state == "inconclusive" else None
    settles_as = None if more is None else _state(mean, mean, margin)
    if probe.compare == "ratio":
        mean, low, high = (math.exp(one) for one in (mean, low, high))
        margin = (math.exp(margin[0]), math.exp(margin[1]))
    ratio = mean if probe.compare == "ratio" else None
    return Compared(state, mean, low, high, len(values), more, settles_as, ratio, margin)


def _effects(probe: Probe, mine: Side, its: Side) -> list[float]:
    """For each seed of both sides, the logarithm of the ratio, or the difference."""
    if probe.bound is not None:
        return [one.value - probe.bound for one in mine.values()]
    pairs = [(mine[seed].value, its[seed].value) for seed in sorted(mine.keys() & its.keys())]
    if probe.compare == "ratio":
        return [math.log(max(one, _LEAST) / max(two, _LEAST)) for one, two in pairs]
    return [one - two for one, two in pairs]


def _resolution(probe: Probe, mine: Side, its: Side) -> float:
    """Half-width that the measures of both sides cannot resolve, on the scale of the effects."""
    sides = [mine] if probe.compare == "bound" else [mine, its]
    if probe.compare == "ratio":
        return math.hypot(
            *(max(one.resolution / max(one.value, _LEAST) for one in s.values()) for s in sides)
        )
    return math.hypot(*(max(one.resolution for one in s.values()) for s in sides))


def _ends(values: list[float], resolution: float, *, drawn: bool) -> tuple[float, float, float]:
    """Mean and ends: the range, or Student's interval; infinite ends with too few values."""
    mean = float(np.mean(values))
    if len(values) < (FEWEST_SEEDS if drawn else FEWEST_TRIALS):
        return mean, -math.inf, math.inf
    if not drawn:
        return mean, min(values) - resolution, max(values) + resolution
    found = against(dict(enumerate(values)), 0.0).difference
    return mean, found.low - resolution, found.high + resolution


def _student(seeds: int) -> float:
    return float(-scipy.special.stdtrit(seeds - 1, (1 - CONFIDENCE) / 2))


def _margin(probe: Probe, its: Side, allowed: Sequence[float]) -> tuple[float, float]:
    """The margin on the scale of the effects."""
    if probe.compare != "ratio":
        return probe.low, probe.high
    low, high = math.log(probe.low), math.log(probe.high)
    kernel = max(float(np.mean([one.value for one in its.values()])), _LEAST)
    away = [0.0, *(math.log(value / kernel) for value in allowed)]
    return low + min(away), high + max(away)


def _state(low: float, high: float, margin: tuple[float, float]) -> State:
    if low > margin[1] or high < margin[0]:
        return "different"
    return "equivalent" if margin[0] <= low and high <= margin[1] else "inconclusive"


def _more(values: list[float], resolution: float, margin: tuple[float, float], *, drawn: bool) -> int | None:
    """Seeds to add until the interval excludes the margin's nearer end, if mean and spread do not change."""
    fewest = FEWEST_SEEDS if drawn else FEWEST_TRIALS
    if len(values) < fewest:
        return fewest - len(values)
    if not drawn:
        return None
    mean, spread = float(np.mean(values)), float(np.std(values, ddof=1))
    distance = min(abs(mean - end) for end in margin if math.isfinite(end)) - resolution
    for seeds in range(len(values) + 1, MOST_SEEDS):
        if _student(seeds) * spread / math.sqrt(seeds) < distance:
            return seeds - len(values)
    return None
