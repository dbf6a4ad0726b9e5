"""Contradictions between two papers: which factor moves the quantity most."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.claims.frames import Frames
from cambrian.claims.model import Contradiction
from cambrian.effects import notes, replicate
from cambrian.effects.errors import EffectError, NotCompleteError, UndefinedError
from cambrian.effects.prepare import prepare
from cambrian.effects.summary import cell_seeds, interval, no_interval, seeds_behind
from cambrian.stats.interval import FloatArray

Level = str | float | int | bool | None
#: the verdict if one factor's effect is the largest; it says nothing of whether that reconciles the papers
MOVED_MOST = "moved most by one factor"


@dataclass(frozen=True)
class MainEffect:
    """The effect of one factor on the mean of the quantity, in the quantity's unit.

    ``difference`` = mean at the level ``highest`` minus mean at ``lowest``, over the ``pairs`` combinations
    of the other factors that were measured at both levels. Of more than two levels, the two with the largest
    difference; ``low`` and ``high`` are then wide enough for all pairs of levels at once, because the pair
    with the largest difference was not chosen beforehand.
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
    """``verdict``: :data:`MOVED_MOST`, "inconclusive" or "not run"; ``factor`` has the largest effect.

    ``note``: the values that ``where`` lists and no trial has; empty if all have trials. ``ends``: the least
    and the largest mean of the quantity over the settings, to set beside what the two papers have.
    """

    contradiction: Contradiction
    verdict: str
    factor: str | None
    effects: tuple[MainEffect, ...]
    reason: str = ""
    note: str = ""
    ends: tuple[float, float] | None = None


@dataclass(frozen=True)
class _Pair:
    """Two levels of a factor.

    ``draws``: their difference of all seeds, then without each; shape (1 + seeds,). ``seeds``: of each cell
    behind it.
    """

    draws: FloatArray
    seeds: FloatArray


@dataclass(frozen=True)
class _Main:
    """A factor's effect. ``pairs``: every two of its levels that can be compared; the effect's own first."""

    effect: MainEffect
    pairs: tuple[_Pair, ...]


def explain(contradiction: Contradiction, frames: Frames) -> Explained:
    """The main effects of all factors, largest first.

    :data:`MOVED_MOST` if the interval of the largest effect excludes 0, and so does that of its lead over
    each other factor. Inconclusive if cells are left out whose transfers, page loads or seeds were not
    complete, or if a factor was not measured at two levels and no note says so.
    """
    try:
        frame = frames.frame(contradiction.part, contradiction.table)
    except ValueError as error:
        return Explained(contradiction, "not run", None, (), str(error))
    if frame is None:
        return Explained(contradiction, "not run", None, (), f"{contradiction.part} has not been run")
    try:
        prepared = prepare(frame, contradiction.effect)
    except (NotCompleteError, UndefinedError) as error:
        return Explained(contradiction, "inconclusive", None, (), f"{contradiction.part}: {error}")
    except EffectError as error:
        return Explained(contradiction, "not run", None, (), f"{contradiction.part}: {error}")
    draws = replicate.effects(prepared, contradiction.effect)
    seeds = cell_seeds(prepared)
    mains = [_main(name, prepared.keys, draws, seeds) for name in contradiction.factors]
    found = sorted((main for main in mains if main), key=lambda main: -main.effect.difference)
    note = notes.only_at(prepared.partial)
    if not found:
        reason = notes.cut(prepared) or "no factor was measured at two levels in the same setting"
        verdict = "inconclusive" if notes.cut(prepared) else "not run"
        return Explained(contradiction, verdict, None, (), reason, note)
    # the note names what is listed and not there
    noted = {one.column for one in prepared.partial}
    asked = [factor for factor in contradiction.factors if factor not in noted]
    reason = notes.cut(prepared) or _open(found, asked)
    verdict = "inconclusive" if reason else MOVED_MOST
    effects = tuple(main.effect for main in found)
    ends = float(np.nanmin(draws[0])), float(np.nanmax(draws[0]))
    return Explained(contradiction, verdict, effects[0].factor, effects, reason, note, ends)


def _open(found: Sequence[_Main], factors: Sequence[str]) -> str:
    """Why it is open whether the first effect is the largest of all ``factors``; empty if it is."""
    measured = {main.effect.factor for main in found}
    if missing := [factor for factor in factors if factor not in measured]:
        return f"not measured at two levels: {', '.join(missing)}"
    largest = found[0]
    effect, own = largest.effect, largest.pairs[0]
    if effect.low is None:
        return no_interval(own.seeds)
    if effect.low <= 0:
        return "the interval of the largest effect contains 0"
    # not over the second alone: a smaller estimate that is less well known may be of the larger effect
    for other in found[1:]:
        if not all(_leads(own, pair, len(largest.pairs)) for pair in other.pairs):
            return f"the difference between the effects of {effect.factor} and {other.effect.factor} may be 0"
    return ""


def _leads(largest: _Pair, other: _Pair, chosen_of: int) -> bool:
    """Is the difference of ``largest`` certainly larger than the size of ``other``'s, whatever its sign?"""
    behind = min(seeds_behind(pair.seeds) for pair in (largest, other))
    lows = [
        interval(largest.draws + signed, behind, chosen_of=chosen_of)[0]
        for signed in (-other.draws, other.draws)
    ]
    return all(low is not None and low > 0 for low in lows)


def _main(factor: str, keys: pl.DataFrame, draws: FloatArray, seeds: FloatArray) -> _Main | None:
    """The factor's effect; None without two levels that have a mean. ``seeds``: of each cell."""
    others = [name for name in keys.columns if name != factor]
    places: dict[Level, dict[tuple[Level, ...], int]] = {}
    for index, row in enumerate(keys.to_dicts()):
        places.setdefault(row[factor], {})[tuple(row[name] for name in others)] = index
    pairs = []
    for one, two in itertools.combinations(places, 2):
        common = sorted(places[one].keys() & places[two].keys(), key=str)
        cells = {level: [places[level][rest] for rest in common] for level in (one, two)}
        # a level with an undefined cell has no mean
        if common and np.isfinite(draws[0, cells[one] + cells[two]]).all():
            pairs.append((one, two, cells))
    found = []
    for one, two, cells in pairs:
        # a cell without a value without a seed makes that mean NaN
        means = {level: draws[:, cells[level]].mean(axis=1) for level in (one, two)}
        lowest, highest = (two, one) if means[two][0] < means[one][0] else (one, two)
        pair = _Pair(means[highest] - means[lowest], seeds[cells[one] + cells[two]])
        bounds = interval(pair.draws, seeds_behind(pair.seeds), chosen_of=len(pairs))
        effect = MainEffect(factor, lowest, highest, float(means[lowest][0]), float(means[highest][0]),
                            float(pair.draws[0]), *bounds, len(cells[one]))  # fmt: skip
        found.append((effect, pair))
    found.sort(key=lambda each: -each[0].difference)
    return _Main(found[0][0], tuple(pair for _, pair in found)) if found else None
