"""Explain contradictions between two papers: which factor moves the quantity most."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.claims.frames import Frames
from cambrian.claims.model import Contradiction
from cambrian.effects import replicate
from cambrian.effects.errors import EffectError, NotCompleteError
from cambrian.effects.prepare import prepare
from cambrian.effects.summary import interval, no_interval
from cambrian.stats.interval import FloatArray

Level = str | float | int | bool | None


@dataclass(frozen=True)
class MainEffect:
    """The effect of one factor on the mean of the quantity, in the quantity's unit.

    ``difference`` = mean at the level ``highest`` minus mean at ``lowest``, over the ``pairs`` combinations
    of the other factors that were measured at both levels. Of more than two levels, the two with the largest
    difference.
    """

    factor: str
    lowest: Level
    highest: Level
    mean_lowest: float
    mean_highest: float
    difference: float
    low: float | None
    high: float | None
    pairs: int


@dataclass(frozen=True)
class Explained:
    """``verdict``: "explained", "inconclusive" or "not run"; ``factor`` has the largest effect."""

    contradiction: Contradiction
    verdict: str
    factor: str | None
    effects: tuple[MainEffect, ...]
    reason: str = ""


def explain(contradiction: Contradiction, frames: Frames) -> Explained:
    """The main effects of all factors, largest first.

    "explained" if the interval of the largest effect excludes 0, and so does that of its lead over the
    second.
    """
    frame = frames.frame(contradiction.part, contradiction.table)
    if frame is None:
        return Explained(contradiction, "not run", None, (), f"{contradiction.part} has not been run")
    try:
        prepared = prepare(frame, contradiction.effect)
    except NotCompleteError as error:
        return Explained(contradiction, "inconclusive", None, (), f"{contradiction.part}: {error}")
    except EffectError as error:
        return Explained(contradiction, "not run", None, (), f"{contradiction.part}: {error}")
    draws = replicate.effects(prepared, contradiction.effect)
    found = [main for name in contradiction.factors if (main := _main(name, prepared.keys, draws))]
    if not found:
        reason = "no factor was measured at two levels in the same setting"
        return Explained(contradiction, "not run", None, (), reason)
    found.sort(key=lambda pair: -pair[0].difference)
    effects = tuple(main for main, _ in found)
    largest, leads = found[0]
    if largest.low is None:
        reason = no_interval(np.array([len(prepared.seeds)]))
        return Explained(contradiction, "inconclusive", largest.factor, effects, reason)
    if largest.low <= 0:
        reason = "the interval of the largest effect contains 0"
        return Explained(contradiction, "inconclusive", largest.factor, effects, reason)
    if len(found) > 1:
        low, _ = interval(leads - found[1][1], len(prepared.seeds))
        if low is None or low <= 0:
            reason = (
                f"the difference between the effects of {largest.factor} and {effects[1].factor} may be 0"
            )
            return Explained(contradiction, "inconclusive", largest.factor, effects, reason)
    return Explained(contradiction, "explained", largest.factor, effects)


def _main(factor: str, keys: pl.DataFrame, draws: FloatArray) -> tuple[MainEffect, FloatArray] | None:
    """The factor's effect, and its difference of all seeds and without each seed; None for a single level."""
    others = [name for name in keys.columns if name != factor]
    places: dict[Level, dict[tuple[Level, ...], int]] = {}
    for index, row in enumerate(keys.to_dicts()):
        places.setdefault(row[factor], {})[tuple(row[name] for name in others)] = index
    best: tuple[MainEffect, FloatArray] | None = None
    for one, two in itertools.combinations(places, 2):
        common = sorted(places[one].keys() & places[two].keys(), key=str)
        if not common:
            continue
        with warnings.catch_warnings():
            # where no cell is left without a seed, that mean is NaN
            warnings.filterwarnings("ignore", "Mean of empty", RuntimeWarning)
            low, high = (np.nanmean(draws[:, [places[level][rest] for rest in common]], axis=1)
                         for level in (one, two))  # fmt: skip
        lowest, highest = one, two
        if high[0] < low[0]:
            low, high, lowest, highest = high, low, two, one
        difference = high - low
        if best is None or difference[0] > best[0].difference:
            bounds = interval(difference, len(draws) - 1)
            main = MainEffect(factor, lowest, highest, float(low[0]), float(high[0]),
                              float(difference[0]), *bounds, len(common))  # fmt: skip
            best = main, difference
    return best
