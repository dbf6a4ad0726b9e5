"""From which value of a column on one side stays ahead: a row for each combination of the others."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from cambrian.effects import resample
from cambrian.effects.errors import EffectError
from cambrian.effects.model import EffectSpec
from cambrian.effects.prepare import prepare
from cambrian.stats.interval import FloatArray

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

    Columns: those; ``crossover``, the smallest measured value of ``along`` from which on the effect is
    above ``threshold`` at every larger measured value too, null where it isn't at the largest;
    ``low`` and ``high``, the 2.5 % and 97.5 % points of the same in resamples of the seeds (null as above),
    without meaning unless ``has_interval``; ``least``, ``most`` and the number of ``values`` of ``along``
    that were measured. A crossover lies between the measured value before it and itself: the grid's
    step is part of its uncertainty, and no part of the interval.

    Raises:
        NoDataError: no cell has a trial on each side.
        EffectError: ``along`` is not in the cell or holds no numbers, or the spec does not fit the frame.
    """
    if along not in spec.cell:
        raise EffectError(f"along = {along} must be one of the columns in cell")
    prepared = prepare(frame, spec)
    if not prepared.keys.schema[along].is_numeric():
        raise EffectError(f"{along} holds no numbers: a crossover goes along numbers")
    draws = resample.effects(prepared, spec)
    others = [name for name in spec.cell if name != along]
    numbered = prepared.keys.sort(along, maintain_order=True)
    order = prepared.keys.with_row_index("__cell").sort(along, maintain_order=True)["__cell"].to_numpy()
    groups = (
        numbered.with_row_index("__at").group_by(others, maintain_order=True).agg("__at")
        if others
        else pl.DataFrame({"__at": [list(range(len(order)))]})
    )
    rows = []
    for places in groups["__at"].to_list():
        values = numbered[along].cast(pl.Float64).to_numpy()[places]
        rows.append(_row(values, draws[:, order[places]] > threshold))
    found = pl.concat([groups.select(others), pl.DataFrame(rows, schema=_SCHEMA)], how="horizontal")
    return found.sort(others) if others else found


def _row(
    values: FloatArray, ahead: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
) -> dict[str, float | int | bool | None]:
    """``ahead`` has the shape (1 + resamples, values): first as it is."""
    # from the largest value down: ahead there and everywhere above
    stays = np.flip(np.logical_and.accumulate(np.flip(ahead, axis=1), axis=1), axis=1)
    first = np.where(stays.any(axis=1), values[np.argmax(stays, axis=1)], math.inf)
    drawn = np.sort(first[1:])
    tail = (1 - resample.CONFIDENCE) / 2
    return {
        "crossover": _known(first[0]),
        "low": _known(drawn[math.floor(tail * len(drawn))]) if len(drawn) else None,
        "high": _known(drawn[math.ceil((1 - tail) * len(drawn)) - 1]) if len(drawn) else None,
        "has_interval": len(drawn) > 0,
        "least": float(values[0]),
        "most": float(values[-1]),
        "values": len(values),
    }


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
