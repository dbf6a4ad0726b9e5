"""Turn an observations frame into one value for each seed, cell and side."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from cambrian.effects.errors import EffectError, NoDataError, NotCompleteError, UndefinedError
from cambrian.effects.model import OBSERVATIONS, EffectSpec, Scalar, Where
from cambrian.effects.where import matching, require_columns
from cambrian.measure import quantities
from cambrian.stats.interval import BoolArray, FloatArray

#: columns for a trial's value and its cell's number, in addition to the frame's trial and seed
_VALUE, _CELL, _FLOWS, _LATE, _PAGES = "__value", "__cell", "__flows", "__late", "__pages"
#: column with the number of a group's transfers and page loads that did not end in time
_NOT_COMPLETE = "not_complete"


@dataclass(frozen=True)
class Partial:
    """A condition that lists values of a column: those that have trials, and those that have none."""

    column: str
    there: tuple[Scalar, ...]
    absent: tuple[Scalar, ...]


@dataclass(frozen=True)
class Side:
    """One side. ``values``: the mean of a seed's trials, NaN without a trial, shape (seeds, cells).

    ``trials``: the number of trials, shape (cells,).
    """

    values: FloatArray
    trials: FloatArray

    @property
    def seeds(self) -> FloatArray:
        """Number of seeds of each cell, shape (cells,)."""
        return np.asarray(np.isfinite(self.values).sum(axis=0), dtype=np.float64)

    @property
    def mean(self) -> FloatArray:
        """Mean over each cell's seeds, shape (cells,)."""
        return np.asarray(np.nanmean(self.values, axis=0))

    @property
    def sd(self) -> FloatArray:
        """SD over each cell's seeds, NaN for one seed; shape (cells,)."""
        squares = np.nansum(np.square(self.values - self.mean), axis=0)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sqrt(squares / (self.seeds - 1)))


@dataclass(frozen=True)
class Prepared:
    """The cells with trials on all sides.

    ``keys`` has one row for each cell (no columns if the spec has one cell), ``seeds`` are sorted, ``trials``
    is the number of distinct trials. ``left_out``: the trials without a value of the quantity, and the others
    of their seeds; ``cells_without_seed``: the cells that are left out because none of their seeds remains.
    ``not_complete``: transfers and page loads that did not end in their trial's time; ``cells_cut``: the
    cells that are left out because of them, if the quantity is of complete ones only. ``partial``: the lists
    in the spec's conditions that have values without a trial in these cells. ``ends``: the least and the
    largest value that a side's figure can have, of all cells together; ``cell_ends``: of each cell (Jain's
    index depends on the number of flows).
    """

    keys: pl.DataFrame
    seeds: tuple[int, ...]
    a: Side
    b: Side | None
    trials: int
    left_out: int
    cells_without_seed: int = 0
    not_complete: int = 0
    cells_cut: int = 0
    partial: tuple[Partial, ...] = ()
    ends: tuple[float, float] = (-math.inf, math.inf)
    cell_ends: tuple[tuple[float, float], ...] = ()

    @property
    def has(self) -> BoolArray:
        """Which seeds each cell has, on any side: the replicates that are its own; shape (seeds, cells)."""
        sides = [np.isfinite(side.values) for side in (self.a, self.b) if side is not None]
        return np.asarray(np.any(sides, axis=0))

    def ends_of(self, place: int) -> tuple[float, float]:
        """The ends of the cell at ``place`` in ``keys``."""
        return self.cell_ends[place] if self.cell_ends else self.ends


def prepare(frame: pl.DataFrame, spec: EffectSpec) -> Prepared:
    """Filter the rows, compute one value for each trial, and arrange the values by seed and cell.

    Raises:
        NotCompleteError: each cell has a transfer or a page load that did not end in time.
        NoDataError: no cell has a trial with a value on each side.
        UndefinedError: no cell has a seed with a value in each of its trials and groups.
        EffectError: a column is missing, or the quantity is no number.
    """
    require_columns(frame, ["trial", "seed", spec.quantity, *spec.cell])
    kind = frame.schema[spec.quantity]
    if not (kind.is_numeric() or kind in (pl.Boolean, pl.Null)):
        raise EffectError(f"quantity {spec.quantity} is {str(kind).lower()}, not a number")
    rows = matching(frame, spec.where).with_columns(pl.col(spec.quantity).cast(pl.Float64).alias(_VALUE))
    rows = rows.with_columns(pl.when(pl.col(_VALUE).is_finite()).then(_VALUE))
    sides = {"a": spec.a} if spec.b is None else {"a": spec.a, "b": spec.b}
    long = {name: _trials(rows, spec, where, name) for name, where in sides.items()}
    whole = {name: _complete(trials, spec) for name, trials in long.items()}
    late = _late(frame, rows, spec)
    if not late.is_empty():
        late = _joined(late, _common_cells(long, spec), spec, "semi")
    known = {name: _joined(trials, late, spec, "anti") for name, trials in whole.items()}
    measured = {name: _joined(trials.drop_nulls(_VALUE), late, spec, "anti") for name, trials in long.items()}
    try:
        there = keys = _common_cells(measured, spec)
    except NoDataError:
        if late.is_empty():
            raise
        what = f"transfers or page loads that were not complete at their trial's end ({late[_LATE].sum()})"
        raise NotCompleteError(f"{spec.quantity} has no mean: {what}") from None
    for trials in known.values():
        keys = _joined(keys, trials, spec, "semi")
    if keys.is_empty():
        raise UndefinedError(f"no seed has {spec.quantity} in each of its trials and groups")
    numbered = keys.with_row_index(_CELL)
    kept = {
        name: _numbered(trials, numbered, list(spec.cell)).sort(_CELL, "seed", "trial")
        for name, trials in known.items()
    }
    everything = pl.concat([trials.select("trial", "seed") for trials in kept.values()])
    seeds = tuple(everything["seed"].unique().sort().to_list())
    laid = {name: _side(trials, seeds, len(keys)) for name, trials in kept.items()}
    flows = _most_flows(rows, keys, spec)
    place = [*dict.fromkeys([*spec.cell, "trial"])]
    left = [long[name].join(whole[name], on=place, how="anti", nulls_equal=True) for name in sides]
    return Prepared(
        keys=keys.select(spec.cell),
        seeds=seeds,
        a=laid["a"],
        b=laid.get("b"),
        trials=everything["trial"].n_unique(),
        left_out=pl.concat([trials.select("trial") for trials in left])["trial"].n_unique(),
        cells_without_seed=len(there) - len(keys),
        not_complete=int(late[_LATE].sum()),
        cells_cut=len(late),
        partial=tuple(_partial(rows, spec, kept)),
        ends=_ends(max((one for one in flows if one is not None), default=None), spec),
        cell_ends=tuple(_ends(one, spec) for one in flows),
    )


def _late(frame: pl.DataFrame, rows: pl.DataFrame, spec: EffectSpec) -> pl.DataFrame:
    """The cells of a quantity of complete transfers in which others were not: ``_LATE`` of both sides.

    The complete ones are the fastest, so that their mean is no mean of all. A page load that was not complete
    makes its whole trial invalid, so that the other flows of its group have no mean either. The counts are
    those of whole groups: a cell of a part of a group's trials has them, too.
    """
    known = quantities.ALL.get(spec.quantity) if spec.table == OBSERVATIONS else None
    if known is None or not known.of_complete or _NOT_COMPLETE not in rows.columns:
        return pl.DataFrame(schema={**{name: rows.schema[name] for name in spec.cell}, _LATE: pl.Int64})
    late, is_page = pl.col(_NOT_COMPLETE).cast(pl.Int64).fill_null(0), pl.col("page").is_not_null()
    loads = frame.filter(is_page & (late > 0)).unique(["group", "flow"])
    pages = loads.group_by("group").agg(late.sum().alias(_PAGES))
    sides = [spec.a] if spec.b is None else [spec.a, spec.b]
    flows = pl.concat([matching(rows, where) for where in sides]).join(pages, on="group", how="left")
    flows = flows.unique([*dict.fromkeys([*spec.cell, "group", "flow"])])
    own = pl.when(is_page).then(0).otherwise(late).sum()
    groups = flows.group_by([*dict.fromkeys([*spec.cell, "group"])]).agg(
        (own + pl.col(_PAGES).first().fill_null(0)).alias(_LATE)
    )
    total = pl.col(_LATE).sum()
    found = groups.group_by(spec.cell).agg(total) if spec.cell else groups.select(total)
    return found.filter(pl.col(_LATE) > 0)


def _joined(
    frame: pl.DataFrame, cells: pl.DataFrame, spec: EffectSpec, how: Literal["semi", "anti"]
) -> pl.DataFrame:
    """The rows of ``frame`` in ``cells``, or outside of them; without columns, all is one cell."""
    if spec.cell:
        return frame.join(cells, on=spec.cell, how=how, nulls_equal=True, maintain_order="left")
    return frame.clear() if (how == "semi") == cells.is_empty() else frame


def _most_flows(rows: pl.DataFrame, keys: pl.DataFrame, spec: EffectSpec) -> list[int | None]:
    """The largest number of flows of a trial of each cell; None if the frame does not tell it."""
    if "flows" not in rows.columns:
        return [None] * len(keys)
    here = matching(rows, spec.a)
    if not spec.cell:
        return [here["flows"].cast(pl.Int64).max()]  # type: ignore[list-item]  # polars: of any type
    most = here.group_by(spec.cell).agg(pl.col("flows").cast(pl.Int64).max().alias(_FLOWS))
    joined = keys.select(spec.cell).join(
        most, on=spec.cell, how="left", nulls_equal=True, maintain_order="left"
    )
    return joined[_FLOWS].to_list()


def _ends(flows: int | None, spec: EffectSpec) -> tuple[float, float]:
    known = quantities.ALL.get(spec.quantity) if spec.table == OBSERVATIONS else None
    if known is None or flows is None or spec.of != "mean":
        return -math.inf, math.inf
    low, high = known.ends(flows)
    # a sum of several flows' parts may be larger than the whole
    return (-math.inf, math.inf) if spec.flows == "sum" and math.isfinite(high) else (low, high)


def _partial(rows: pl.DataFrame, spec: EffectSpec, kept: dict[str, pl.DataFrame]) -> Iterator[Partial]:
    """The conditions that list values, some of which have no trial behind the figure, on a side."""
    conditions = {"a": spec.a, "b": spec.b or {}}
    place = [*dict.fromkeys([*spec.cell, "trial"])]
    for where, sides in ((spec.where, list(kept)), *((conditions[name], [name]) for name in kept)):
        for column, condition in where.items():
            if not isinstance(condition, tuple):
                continue
            known = set(condition)
            for name in sides:
                ran = matching(rows, conditions[name]).join(
                    kept[name], on=place, how="semi", nulls_equal=True
                )
                known &= set(ran[column])
            if known != set(condition):
                there = tuple(value for value in condition if value in known)
                yield Partial(column, there, tuple(value for value in condition if value not in known))


def _trials(rows: pl.DataFrame, spec: EffectSpec, where: Where, name: str) -> pl.DataFrame:
    """One row for each cell and trial of a side; the value is null if it was not measured.

    A sum is null if one of its rows is null; mean, minimum and maximum ignore null rows.
    """
    found = matching(rows, where)
    if found.is_empty():
        raise NoDataError("no trial matches" + (f" on side {name}" if spec.b is not None else ""))
    column = pl.col(_VALUE)
    value = {"mean": column.mean(), "min": column.min(), "max": column.max(),
             "sum": pl.when(column.null_count() == 0).then(column.sum())}[spec.flows]  # fmt: skip
    group = ["group"] if "group" in found.columns else []
    return found.group_by([*dict.fromkeys([*spec.cell, *group, "trial", "seed"])]).agg(value)


def _complete(trials: pl.DataFrame, spec: EffectSpec) -> pl.DataFrame:
    """The seeds with a trial in each group of their cell, and a value of each trial.

    One order of a seed alone would be unbalanced, and so would a seed with only some rivals.
    """
    groups = (pl.col("group") if "group" in trials.columns else pl.lit(0)).n_unique()
    cell, place = spec.cell or pl.lit(0), [*dict.fromkeys([*spec.cell, "seed"])]
    whole = (pl.col(_VALUE).null_count().over(place) == 0) & (groups.over(place) == groups.over(cell))
    return trials.filter(whole)


def _common_cells(known: dict[str, pl.DataFrame], spec: EffectSpec) -> pl.DataFrame:
    """The cells with trials on all sides, sorted; one row with a dummy column if the spec has one cell."""
    for name, trials in known.items():
        if trials.is_empty():
            raise NoDataError(
                f"{spec.quantity} was measured in no trial" + (f" of side {name}" if spec.b else "")
            )
    if not spec.cell:
        return pl.DataFrame({"": [0]})
    frames = [trials.select(spec.cell).unique() for trials in known.values()]
    keys = frames[0]
    for other in frames[1:]:
        keys = keys.join(other, on=spec.cell, how="semi", nulls_equal=True)
    if keys.is_empty():
        raise NoDataError("no cell has trials on both sides")
    return keys.sort(spec.cell)


def _numbered(trials: pl.DataFrame, numbered: pl.DataFrame, cell: list[str]) -> pl.DataFrame:
    if not cell:
        return trials.with_columns(pl.lit(0, dtype=pl.UInt32).alias(_CELL))
    return trials.join(numbered, on=cell, how="inner", nulls_equal=True)


def _side(trials: pl.DataFrame, seeds: tuple[int, ...], cells: int) -> Side:
    """One side's values; the orders of a seed are averaged, so that each seed counts once."""
    place = {seed: index for index, seed in enumerate(seeds)}
    row = np.array([place[seed] for seed in trials["seed"]])
    column = trials[_CELL].to_numpy()
    totals, counts = np.zeros((len(seeds), cells)), np.zeros((len(seeds), cells))
    np.add.at(totals, (row, column), trials[_VALUE].to_numpy())
    np.add.at(counts, (row, column), 1.0)
    values = np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
    return Side(values, counts.sum(axis=0))
