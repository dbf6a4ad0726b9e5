"""One figure over all cells' effects, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cambrian.effects import reduce, replicate
from cambrian.effects.errors import EffectError, UndefinedError
from cambrian.effects.model import EffectSpec, Over, SummarySpec
from cambrian.effects.prepare import Partial, Prepared, prepare
from cambrian.stats import jackknife, power, simultaneous, states
from cambrian.stats import scale as scales
from cambrian.stats.interval import BoolArray, FloatArray
from cambrian.stats.jackknife import FEWEST_SEEDS
from cambrian.stats.scale import Scale
from cambrian.stats.simultaneous import Cells

#: their intervals are bounds on all cells at once, see :mod:`cambrian.stats.simultaneous`
_COUNTED = frozenset({"share", "steps"})
_EXTREMES = frozenset({"min", "max"})
#: their figures are values of the quantity itself
_OF_VALUES = _EXTREMES | {"mean", "geometric_mean", "median"}


#: why trials define no effect
NO_EFFECT = "no cell has an effect: side b is 0 in all cells, or a single seed has no SD"


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval, in the effect's unit; ``reason`` explains missing bounds.

    ``cells``, ``trials`` and ``seeds`` are the numbers of cells, distinct trials and distinct seeds.
    ``trials_left_out`` have no value of the quantity, or another trial of their seed has none;
    ``cells_without_seed`` have no seed with a value in each of its trials and groups; ``cells_left_out`` have
    no effect, because of a division by 0; ``cells_cut`` are left out, because ``not_complete`` transfers or
    page loads of theirs did not end in their trial's time. ``constant_cells`` are the same in every of
    their seeds, at least two. The estimate of a share, a
    minimum or a maximum is the observed one, which is biased to the extremes; its interval is not.
    ``whole_range``: the interval has every value that the figure can have, such as 0 to 100 % of the cells.
    ``partial``: conditions that list values, some of which have no trial behind the figure. ``over``: how
    the cells became one figure. ``scale``: the one on which the interval is symmetric. ``behind``: the number
    of seeds of an interval by seeds (:func:`seeds_behind`). ``uneven``: one side of a cell has many more
    seeds than another side, of this cell or of another one (:data:`power.MOST_UNLIKE`).
    """

    estimate: float
    low: float | None
    high: float | None
    cells: int
    trials: int
    seeds: int
    trials_left_out: int = 0
    cells_left_out: int = 0
    cells_without_seed: int = 0
    not_complete: int = 0
    cells_cut: int = 0
    constant_cells: int = 0
    reason: str = ""
    partial: tuple[Partial, ...] = ()
    whole_range: bool = False
    over: Over = "mean"
    scale: Scale = "plain"
    behind: int = 0
    uneven: bool = False

    @property
    def of_part(self) -> bool:
        """Is it a count, a minimum or a maximum of only a part of the listed values?"""
        return bool(self.partial) and self.over in _COUNTED | _EXTREMES

    def of_all(self, low: float, high: float) -> tuple[float, float]:
        """The interval ``low`` to ``high`` of this figure, made that of all listed values.

        A count may be any, a maximum no smaller than that of a part, and a minimum no larger. A mean stays
        that of the part: a note says of which.
        """
        if self.of_part and self.over in _COUNTED:
            return 0.0, 100.0
        return (
            -math.inf if self.of_part and self.over == "min" else low,
            math.inf if self.of_part and self.over == "max" else high,
        )


def summary(frame: pl.DataFrame, spec: SummarySpec) -> Estimate:
    """The figure of ``spec`` on an observations frame.

    Raises:
        NoDataError: no cell has a trial on each side.
        UndefinedError: a ratio to 0 in all cells, a geometric mean with a 0, or no seed with all its trials.
        EffectError: the spec does not fit the frame, for example a missing column.
    """
    return estimate(prepare(frame, spec), spec)


def estimate(prepared: Prepared, spec: SummarySpec) -> Estimate:
    """As :func:`summary`, from prepared trials."""
    by_cell = replicate.effects(prepared, spec)
    has_effect = np.isfinite(by_cell[0])
    if not has_effect.any():
        raise UndefinedError(NO_EFFECT)
    keys = prepared.keys.filter(pl.Series(has_effect)) if spec.cell else prepared.keys
    kept = by_cell[:, has_effect]
    seeds, has = cell_seeds(prepared)[has_effect], prepared.has[:, has_effect]
    try:
        found = reduce.reduce(kept, keys, spec)
    except EffectError as error:
        if has_effect.all():
            raise
        left_out = f"cells left out because their effect is not defined: {int((~has_effect).sum())}"
        raise UndefinedError(f"{error} ({left_out})") from None
    if not math.isfinite(found[0]):
        said = "the figure has no value: a geometric mean needs effects above 0"
        if (kept[0] < 0).any():
            raise EffectError(said)
        raise UndefinedError(f"{said} (cells with an effect of 0: {int((kept[0] == 0).sum())})")
    scale = scale_of(spec, prepared.ends)
    low, high = _bounds(found, kept, keys, spec, seeds, has, scale)
    if spec.summary in _OF_VALUES:
        low, high = possible(low, high, float(found[0]), prepared.ends, spec)
    constant = int(((standard_errors(kept, has) == 0) & (seeds > 1)).sum()) if len(kept) > 1 else 0
    return Estimate(
        estimate=float(found[0]),
        low=low,
        high=high,
        cells=int(has_effect.sum()),
        trials=prepared.trials,
        seeds=len(prepared.seeds),
        trials_left_out=prepared.left_out,
        cells_left_out=int((~has_effect).sum()),
        cells_without_seed=prepared.cells_without_seed,
        not_complete=prepared.not_complete,
        cells_cut=prepared.cells_cut,
        constant_cells=constant,
        reason=no_interval(seeds) if low is None else _constant(len(seeds), constant),
        partial=prepared.partial,
        whole_range=_whole(low, high, prepared.ends, spec),
        over=spec.summary,
        scale=jackknife.fitting(found, _scale_of_figure(spec, scale)),
        behind=seeds_behind(seeds),
        uneven=_uneven(prepared, has_effect),
    )


def _uneven(prepared: Prepared, kept: NDArray[np.bool_]) -> bool:
    counts = np.concatenate([side.seeds[kept] for side in (prepared.a, prepared.b) if side is not None])
    return bool(counts.max() > power.MOST_UNLIKE * counts.min())


def cell_seeds(prepared: Prepared) -> FloatArray:
    """Number of seeds of each cell, on the side with fewer; shape (cells,)."""
    sides = [side.seeds for side in (prepared.a, prepared.b) if side is not None]
    return np.asarray(np.min(sides, axis=0))


def standard_errors(found: FloatArray, has: BoolArray | None = None) -> FloatArray:
    """Standard errors (k,) of figures (1 + seeds, k); 0 if leaving out a seed changes only rounding.

    ``has``: the seeds of each figure, as in :func:`cambrian.stats.jackknife.errors`.
    """
    others = len(found) - 2 if has is None else has.sum(axis=0) - 1
    moved = others * (np.nanmax(found, axis=0) - np.nanmin(found, axis=0))
    return np.where(moved > jackknife.RESOLUTION * np.abs(found[0]), jackknife.errors(found, has), 0.0)


def scale_of(spec: EffectSpec, ends: tuple[float, float]) -> Scale:
    """The scale on which a cell's effect is symmetric; ``ends``: of a value of the quantity.

    A value that begins at its lower end, such as a rate, a time or a share, has the scale of its ends. What
    may be negative is a difference, and additive.
    """
    if spec.kind == "ratio" or (spec.of == "sd" and spec.kind == "value"):
        return "factor"
    return ends if spec.kind == "value" and ends[0] >= 0 else "plain"


def interval(
    found: FloatArray, seeds: float, scale: Scale = "plain", *, chosen_of: int = 1
) -> tuple[float | None, float | None]:
    """95 % interval of a figure, given of all seeds and without each; None for fewer than three seeds.

    If the figure is ``chosen_of`` several, because it is the largest, the interval is that of all of them at
    once (Bonferroni).
    """
    confidence = 1 - (1 - jackknife.CONFIDENCE) / chosen_of
    bounds = jackknife.interval(found, math.floor(seeds), scale, confidence=confidence)
    if math.isnan(bounds.low) or math.isnan(bounds.high):
        return None, None
    return bounds.low, bounds.high


def possible(
    low: float | None, high: float | None, estimate: float, ends: tuple[float, float], spec: EffectSpec
) -> tuple[float | None, float | None]:
    """The bounds of a value, cut at the ends of what is possible: Student's go beyond them near an end.

    They still contain the estimate: a burst of the link can make a utilisation a little larger than 100 %.
    """
    if low is None or high is None or spec.kind != "value":
        return low, high
    return min(float(np.clip(low, *ends)), estimate), max(float(np.clip(high, *ends)), estimate)


def _whole(low: float | None, high: float | None, ends: tuple[float, float], spec: SummarySpec) -> bool:
    """Is the interval all that is possible? ``ends``: of a value; a difference and a ratio have none."""
    if low is None or high is None:
        return False
    if spec.summary in _COUNTED:
        return low <= 0 and high >= 100
    return spec.summary in _OF_VALUES and spec.kind == "value" and low <= ends[0] and high >= ends[1]


def no_interval(seeds: FloatArray) -> str:
    """Why a figure of cells with so many ``seeds`` has no interval."""
    fewest = float(seeds.min())
    if fewest >= FEWEST_SEEDS:
        return "no interval: without one of the seeds, the figure is not defined"
    few = "one seed" if fewest < 2 else f"{fewest:g} seeds"
    cells = "a cell" if (seeds == fewest).all() else f"in {(seeds == fewest).sum()} of {len(seeds)} cells"
    return f"{few} {cells}" if fewest < 2 else f"{few} {cells}, too few for an interval"


def _constant(cells: int, constant: int) -> str:
    if constant == cells:
        return f"every cell is {states.SAME}: the figure is exact"
    return f"{constant} of {cells} cells are {states.SAME}" if constant else ""


def _bounds(
    found: FloatArray,
    by_cell: FloatArray,
    keys: pl.DataFrame,
    spec: SummarySpec,
    seeds: FloatArray,
    has: BoolArray,
    scale: Scale,
) -> tuple[float | None, float | None]:
    """``has``: the seeds of each cell. ``scale``: of a cell's effect."""
    if len(found) < 2 or float(np.mean(seeds)) < FEWEST_SEEDS:
        return None, None
    if spec.summary in _EXTREMES:
        return _extreme(by_cell, spec, seeds, has, scale)
    if spec.summary in _COUNTED:
        return _share(by_cell, keys, spec, seeds, has, scale)
    behind = seeds_behind(seeds)
    low, high = interval(found, behind, _scale_of_figure(spec, scale))
    if spec.summary == "best" and low is not None:
        # the observed best of several rivals is better by chance than the true best: the far bound is that
        # of one rival, the same in all settings
        far = _far_of_best(by_cell, keys, spec, behind)
        if far is None:
            return None, None
        low, high = (low, far) if spec.beyond == "above" else (far, high)
    return low, high


def seeds_behind(seeds: FloatArray) -> int:
    """Seeds behind a figure of all cells: their harmonic mean, because a cell's variance falls as 1 / n."""
    return math.floor(len(seeds) / float((1 / seeds).sum()) + 1e-9)


def cells_on_scale(found: FloatArray, scale: Scale, seeds: FloatArray, has: BoolArray) -> tuple[Cells, Scale]:
    """The cells on their scale; cells of one or two seeds have an infinite error.

    ``seeds``: number of seeds of each cell, on the side with fewer. ``has``: which seeds each cell has: its
    replicates without another cell's seed are no draws of its own.
    """
    used = jackknife.fitting(found, scale)
    laid = jackknife.errors(scales.transform(found, used), has)
    errors = np.where(standard_errors(found, has) == 0, 0.0, laid)
    known = (seeds >= FEWEST_SEEDS) & np.isfinite(errors)
    # the error of a cell is unknown below three seeds: any value is possible
    errors = np.where(known, errors, np.inf)
    return Cells(scales.transform(found, used)[0], errors, np.maximum(seeds - 1, 1)), used


def _scale_of_figure(spec: SummarySpec, scale: Scale) -> Scale:
    """``scale``: of a cell's effect. A slope or a lead is a difference."""
    return scale if spec.summary in _OF_VALUES and spec.kind in {"ratio", "value"} else "plain"


def _extreme(
    by_cell: FloatArray, spec: SummarySpec, seeds: FloatArray, has: BoolArray, scale: Scale
) -> tuple[float | None, float | None]:
    cells, used = cells_on_scale(by_cell, scale, seeds, has)
    if not np.all(np.isfinite(cells.error)):
        return None, None
    ends = np.array(simultaneous.largest(cells) if spec.summary == "max" else simultaneous.smallest(cells))
    low, high = scales.inverse(ends, used)
    return float(low), float(high)


def _share(
    by_cell: FloatArray,
    keys: pl.DataFrame,
    spec: SummarySpec,
    seeds: FloatArray,
    has: BoolArray,
    scale: Scale,
) -> tuple[float, float]:
    """Bounds of the percentage of cells, or of steps, that are beyond the threshold."""
    if spec.summary == "steps":
        one, two = reduce.steps(keys, spec)
        changes = by_cell[:, two] - by_cell[:, one]
        fewer, either = np.minimum(seeds[one], seeds[two]), has[:, one] | has[:, two]
        cells, threshold = cells_on_scale(changes, "plain", fewer, either)[0], 0.0
        beyond = "below" if spec.step == "falls" else "above"
    else:
        assert spec.threshold is not None
        cells, used = cells_on_scale(by_cell, scale, seeds, has)
        threshold, beyond = float(scales.transform(np.array(spec.threshold), used)), spec.beyond
    if beyond == "below":
        cells, threshold = cells.negated(), -threshold
    low, high = simultaneous.share_above(cells, threshold)
    return 100 * low, 100 * high


def _far_of_best(by_cell: FloatArray, keys: pl.DataFrame, spec: SummarySpec, seeds: int) -> float | None:
    """None if a lead is undefined without one of the seeds."""
    leads = reduce.leads(by_cell, keys, spec)
    if not np.isfinite(leads).all():
        return None
    cells = Cells(leads[0], standard_errors(leads), np.full(leads.shape[1], seeds - 1.0))
    ends = simultaneous.smallest(cells) if spec.beyond == "above" else simultaneous.largest(cells)
    return ends[1] if spec.beyond == "above" else ends[0]
