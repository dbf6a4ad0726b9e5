"""Crossovers: the value of a column from which on one side stays ahead, by combination of the others."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from cambrian.effects import reduce, replicate
from cambrian.effects.errors import EffectError, UndefinedError
from cambrian.effects.model import EffectSpec
from cambrian.effects.prepare import Prepared, prepare
from cambrian.effects.summary import NO_EFFECT, cell_seeds, cells_on_scale, scale_of
from cambrian.stats import scale as scales
from cambrian.stats import simultaneous
from cambrian.stats.interval import BoolArray, FloatArray, finite
from cambrian.stats.scale import Scale

_SCHEMA = {
    "crossover": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "has_interval": pl.Boolean,
    "least": pl.Float64,
    "most": pl.Float64,
    "values": pl.Int64,
}


def crossovers(frame: pl.DataFrame, spec: EffectSpec, along: str, threshold: float) -> pl.DataFrame:
    """One row for each combination of the cell's columns other than ``along``, sorted by them.

    Values of ``along`` at which the effect is not defined, as a ratio to 0, do not count.

    Columns: those; ``crossover``, the smallest measured value of ``along`` from which on the effect is above
    ``threshold`` at all larger measured values too, null if it is not at the largest; ``low`` and ``high``,
    its 95 % bounds over seeds (:func:`cambrian.stats.simultaneous.crossing`; null as above), valid only if
    ``has_interval``; ``least``, ``most`` and the number of ``values`` of ``along`` with an effect (if 0,
    ``crossover`` is unknown, and null). The true crossover lies between the measured value before
    ``crossover`` and ``crossover``; the interval does not include this step of the grid.

    Raises:
        NoDataError: no cell has a trial on each side.
        UndefinedError: no cell has an effect.
        EffectError: ``along`` is not in the cell or no number in one, or the spec does not fit the frame.
    """
    if along not in spec.cell:
        raise EffectError(f"along = {along} must be one of the columns in cell")
    return crossovers_of(prepare(frame, spec), spec, along, threshold)


def crossovers_of(prepared: Prepared, spec: EffectSpec, along: str, threshold: float) -> pl.DataFrame:
    """As :func:`crossovers`, from prepared trials."""
    at = reduce.numbers(prepared.keys, along)
    effects = replicate.effects(prepared, spec)
    seeds, has = cell_seeds(prepared), prepared.has
    others = [name for name in spec.cell if name != along]
    numbered = prepared.keys.sort(along, maintain_order=True)
    order = np.argsort(at, kind="stable")
    groups = (
        numbered.with_row_index("__at").group_by(others, maintain_order=True).agg("__at")
        if others
        else pl.DataFrame({"__at": [list(range(len(order)))]})
    )
    if np.isnan(effects[0]).all():
        raise UndefinedError(NO_EFFECT)
    rows = []
    for places in groups["__at"].to_list():
        here = order[places]
        scale = scale_of(spec, prepared.ends)
        rows.append(_row(at[here], effects[:, here], seeds[here], has[:, here], scale, threshold))
    found = pl.concat([groups.select(others), pl.DataFrame(rows, schema=_SCHEMA)], how="horizontal")
    return found.sort(others) if others else found


def _row(
    values: FloatArray,
    effects: FloatArray,
    seeds: FloatArray,
    has: BoolArray,
    scale: Scale,
    threshold: float,
) -> dict[str, float | int | bool | None]:
    """``effects`` has the shape (1 + seeds, values): of all seeds, then without each seed.

    Without an effect that is defined: ``values`` is 0, and the others are null.
    """
    known = ~np.isnan(effects[0])
    values, effects, seeds, has = values[known], effects[:, known], seeds[known], has[:, known]
    if not len(values):
        return dict.fromkeys(_SCHEMA) | {"has_interval": False, "values": 0}
    # from the largest value down: ahead at this value and at all larger ones
    ahead = effects[0] > threshold
    stays = np.flip(np.logical_and.accumulate(np.flip(ahead)))
    bounds = (math.nan, math.nan)
    if len(effects) > 1:
        cells, used = cells_on_scale(effects, scale, seeds, has)
        ends = np.append(values, math.inf)
        bounds = tuple(
            ends[list(simultaneous.crossing(cells, float(scales.transform(np.array(threshold), used))))]
        )
    return {
        "crossover": float(values[np.argmax(stays)]) if stays.any() else None,
        "low": finite(bounds[0]),
        "high": finite(bounds[1]),
        "has_interval": len(effects) > 1,
        "least": float(values[0]),
        "most": float(values[-1]),
        "values": len(values),
    }
