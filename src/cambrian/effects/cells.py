"""Each cell's effect with its interval, test and state, for heat maps and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cambrian.effects import replicate
from cambrian.effects.model import EffectSpec
from cambrian.effects.prepare import Prepared, Side, prepare
from cambrian.effects.summary import cell_seeds, interval, possible, scale_of
from cambrian.stats import jackknife, states
from cambrian.stats.compare import Comparison, against, compare, p_with_chance
from cambrian.stats.correction import benjamini_hochberg
from cambrian.stats.interval import FloatArray, Interval, finite
from cambrian.stats.scale import Scale
from cambrian.stats.states import Margin

_SCHEMA = {
    "effect": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "seeds": pl.Int64, "trials_a": pl.Int64, "trials_b": pl.Int64,
    "mean_a": pl.Float64, "mean_b": pl.Float64, "sd_a": pl.Float64, "sd_b": pl.Float64,
    "test": pl.String, "p": pl.Float64, "p_bh": pl.Float64, "state": pl.String,
}  # fmt: skip


def cells(frame: pl.DataFrame, spec: EffectSpec, nulls: pl.DataFrame | None = None) -> pl.DataFrame:
    """One row for each cell with trials on both sides, sorted by the cell's columns.

    Columns: the cell's; ``effect`` with its 95 % interval ``low``, ``high`` (null below three seeds); seeds
    (of the side with fewer), trials, mean and SD of each side; ``test`` and its ``p`` of "no difference",
    ``p_bh``, adjusted by Benjamini-Hochberg over the cells, and ``state`` (:mod:`cambrian.stats.states`):
    different, equivalent, inconclusive, or the same in every seed. The test is "paired" if both sides have
    the same seeds, "jackknife" (each seed left out once) if not, and "one sample" for one side; p is below
    0.05 if the interval excludes "no difference". Side b's columns are null for the effect "value". SDs, and
    values without a natural null, are not tested: null.

    ``nulls`` has the cell's columns and ``null``: the effect "value" without a difference, in percent; null
    for a cell that is not tested. It may have ``of_pairs``: the cell's trials are of two flows, and chance
    may decide who wins a trial. So p is at least 2 / 2ⁿ for n trials.

    Raises:
        NoDataError: no cell has a trial on each side.
        EffectError: the spec does not fit the frame.
    """
    return cells_of(prepare(frame, spec), spec, nulls)


def cells_of(prepared: Prepared, spec: EffectSpec, nulls: pl.DataFrame | None = None) -> pl.DataFrame:
    """As :func:`cells`, from prepared trials."""
    known: list[float | None] = [None] * len(prepared.a.trials)
    of_pairs: list[bool] = [False] * len(known)
    if nulls is not None:
        joined = prepared.keys.join(nulls, on=spec.cell, how="left", nulls_equal=True, maintain_order="left")
        known = joined["null"].to_list()
        of_pairs = joined["of_pairs"].to_list() if "of_pairs" in joined.columns else of_pairs
    found = replicate.effects(prepared, spec)
    own = [_own(prepared, found, place) for place in range(len(known))]
    tests = [_test(prepared, spec, place, own[place], one) for place, one in enumerate(known)]
    tests = [
        replace(test, p=p_with_chance(test.p, int(trials))) if test is not None and pair else test
        for test, trials, pair in zip(tests, prepared.a.trials, of_pairs, strict=True)
    ]
    rows = [_row(prepared, spec, place, own[place], test) for place, test in enumerate(tests)]
    tested = [row for row in rows if row["p"] is not None]
    adjusted = benjamini_hochberg([float(row["p"] or 0) for row in tested]).tolist()
    for row, p_bh in zip(tested, adjusted, strict=True):
        row["p_bh"] = p_bh
    for row, test, one in zip(rows, tests, known, strict=True):
        row["state"] = _state(row, test, spec, one)
    framed = pl.DataFrame(rows, schema=_SCHEMA)
    return pl.concat([prepared.keys, framed], how="horizontal") if spec.cell else framed


def _own(prepared: Prepared, found: FloatArray, place: int) -> FloatArray:
    """A cell's effect of all its seeds, then without each of them: other cells may have other seeds."""
    has = np.append(True, prepared.has[:, place])
    return np.asarray(found[has[: len(found)], place])


@dataclass(frozen=True)
class _Test:
    """The test of a cell; ``p`` is None with too few seeds, and if nothing ``varies``."""

    name: str
    p: float | None
    varies: bool


def _test(
    prepared: Prepared, spec: EffectSpec, place: int, found: FloatArray, null: float | None
) -> _Test | None:
    if spec.of != "mean" or not np.isfinite(found[0]):
        return None
    a = _by_seed(prepared.a, prepared.seeds, place)
    if prepared.b is None:
        return None if null is None else _of(against(a, null, "percent"))
    b = _by_seed(prepared.b, prepared.seeds, place)
    if len(found) == 1 or (spec.kind == "difference" and a.keys() == b.keys()):
        return _of(compare(a, b))
    # of the same replicates and on the same scale as the interval, so that the two agree
    seeds = int(cell_seeds(prepared)[place])
    size = max(map(abs, [*a.values(), *b.values()])) if spec.kind == "difference" else None
    p = jackknife.p_value(found, seeds, _none(spec, null), scale_of(spec, prepared.ends), size=size)
    unknown = seeds < jackknife.FEWEST_SEEDS or not np.isfinite(found).all()
    return _Test("paired" if a.keys() == b.keys() else "jackknife", p, p is not None or unknown)


def _of(test: Comparison) -> _Test:
    return _Test(test.test, test.p, test.varies)


Row = dict[str, float | int | str | None]


def _row(prepared: Prepared, spec: EffectSpec, place: int, found: FloatArray, test: _Test | None) -> Row:
    low, high = None, None
    if np.isfinite(found[0]):
        ends = prepared.ends_of(place)
        tested = test is not None and test.name == "one sample"
        scale: Scale = "percent" if tested else scale_of(spec, ends)
        low, high = interval(found, cell_seeds(prepared)[place], scale)
        low, high = possible(low, high, float(found[0]), ends, spec)
    a, b = prepared.a, prepared.b
    return {
        "effect": finite(found[0]),
        "low": low,
        "high": high,
        "seeds": int(cell_seeds(prepared)[place]),
        "trials_a": int(a.trials[place]),
        "trials_b": int(b.trials[place]) if b else None,
        "mean_a": finite(a.mean[place]),
        "mean_b": finite(b.mean[place]) if b else None,
        "sd_a": finite(a.sd[place]),
        "sd_b": finite(b.sd[place]) if b else None,
        "test": test.name if test else None,
        "p": test.p if test else None,
        "p_bh": None,
        "state": None,
    }


def _state(row: Row, test: _Test | None, spec: EffectSpec, null: float | None) -> str | None:
    if test is None or row["effect"] is None:
        return None
    if not test.varies:
        return states.SAME if row["low"] is not None else "inconclusive"
    bounds = None
    if row["low"] is not None and row["high"] is not None:
        ends = (float(row["effect"]), float(row["low"]), float(row["high"]))
        bounds = Interval(*ends, confidence=0.95, n=int(row["seeds"] or 0), method="")
    p = None if row["p_bh"] is None else float(row["p_bh"])
    return states.state(bounds, _margin(spec, null), p, _none(spec, null))


def _none(spec: EffectSpec, null: float | None) -> float:
    """The effect without a difference."""
    return 1.0 if spec.kind == "ratio" else null or 0.0


def _margin(spec: EffectSpec, null: float | None) -> Margin | None:
    """The margin of the effect's kind; None for a difference, because its unit has no general margin."""
    if spec.kind == "value":
        return None if null is None else states.of_share(null)
    of_kind = {
        "ratio": states.RATIO,
        "percent_less": states.PERCENT,
        "percent_more": states.PERCENT,
    }
    return of_kind.get(spec.kind)


def _by_seed(side: Side, seeds: Sequence[int], place: int) -> dict[int, float]:
    column = side.values[:, place]
    return {seed: float(value) for seed, value in zip(seeds, column, strict=True) if np.isfinite(value)}
