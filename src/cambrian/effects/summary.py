"""One figure of all cells' effects, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.effects import reduce, resample
from cambrian.effects.errors import EffectError
from cambrian.effects.model import SummarySpec
from cambrian.effects.prepare import Prepared, prepare
from cambrian.stats.interval import FloatArray

_PERCENT_OF_CELLS = frozenset({"share", "steps"})


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval, in the effect's unit; without bounds, ``reason`` says why.

    Made of ``trials`` different trials in ``cells`` cells, with ``seeds`` different seeds.
    ``trials_left_out`` did not measure the quantity; ``cells_left_out`` have no effect, since
    they would divide by 0.
    """

    estimate: float
    low: float | None
    high: float | None
    cells: int
    trials: int
    seeds: int
    trials_left_out: int = 0
    cells_left_out: int = 0
    reason: str = ""


def summary(frame: pl.DataFrame, spec: SummarySpec) -> Estimate:
    """The figure of ``spec`` on an observations frame.

    Raises:
        NoDataError: no cell has a trial on each side.
        EffectError: the spec does not fit the frame, such as a column that is not there.
    """
    return estimate(prepare(frame, spec), spec)


def estimate(prepared: Prepared, spec: SummarySpec) -> Estimate:
    """As :func:`summary`, of trials that are laid out already."""
    by_cell = resample.effects(prepared, spec)
    has_effect = np.isfinite(by_cell[0])
    if not has_effect.any():
        raise EffectError("no cell has an effect: side b is 0 in all of them, or one trial has no SD")
    keys = prepared.keys.filter(pl.Series(has_effect)) if spec.cell else prepared.keys
    draws = reduce.reduce(by_cell[:, has_effect], keys, spec)
    if not math.isfinite(draws[0]):
        raise EffectError("the figure has no value: a geometric mean needs effects above 0")
    low, high = interval(draws, logarithmic=_is_ratio(spec), percent=spec.summary in _PERCENT_OF_CELLS)
    return Estimate(
        estimate=float(draws[0]),
        low=low,
        high=high,
        cells=int(has_effect.sum()),
        trials=prepared.trials,
        seeds=len(prepared.seeds),
        trials_left_out=prepared.left_out,
        cells_left_out=int((~has_effect).sum()),
        reason="" if low is not None else few(len(prepared.seeds)),
    )


def interval(
    draws: FloatArray, *, logarithmic: bool = False, percent: bool = False
) -> tuple[float | None, float | None]:
    """95 % interval from a figure as it is (first) and in the resamples; None without resamples.

    The resamples' spread is laid around the estimate: an extreme or a share of cells is further
    out in resamples, which add their noise to the sample's. ``logarithmic`` lays it by
    factors where all are positive, ``percent`` keeps it in [0, 100].
    """
    middle, found = draws[0], draws[1:][np.isfinite(draws[1:])]
    if len(found) == 0:
        return None, None
    by_factor = logarithmic and middle > 0 and bool(np.all(found > 0))
    spread = np.log(found) if by_factor else found
    tail = (1 - resample.CONFIDENCE) / 2
    low, high = np.quantile(spread, [tail, 1 - tail]) - spread.mean()
    # rounding of equal draws is no spread
    if np.ptp(spread) <= 8 * np.finfo(np.float64).eps * max(abs(float(middle)), 1.0):
        low = high = 0.0
    low, high = min(low, 0.0), max(high, 0.0)
    bounds = (middle * np.exp([low, high])) if by_factor else middle + np.array([low, high])
    if percent:
        bounds = np.clip(bounds, 0, 100)
    return float(bounds[0]), float(bounds[1])


def few(seeds: int) -> str:
    """Why so few seeds give no interval."""
    return "one trial a cell" if seeds == 1 else f"{seeds} trials a cell, too few for an interval"


def _is_ratio(spec: SummarySpec) -> bool:
    return spec.kind == "ratio" and spec.summary in {"mean", "geometric_mean", "median", "min", "max"}
