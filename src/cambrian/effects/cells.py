"""Every cell's effect with its interval and test: what a heat map or a table shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from cambrian.effects import resample
from cambrian.effects.model import EffectSpec
from cambrian.effects.prepare import Prepared, Side, prepare
from cambrian.effects.summary import interval
from cambrian.stats.compare import welch
from cambrian.stats.correction import benjamini_hochberg
from cambrian.stats.paired import p_value

#: chance of a false alarm at which a cell counts as significant, after the correction
SIGNIFICANT_P = 0.05
_SCHEMA = {
    "effect": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "trials_a": pl.Int64, "trials_b": pl.Int64,
    "mean_a": pl.Float64, "mean_b": pl.Float64, "sd_a": pl.Float64, "sd_b": pl.Float64,
    "p": pl.Float64, "p_bh": pl.Float64, "significant": pl.Boolean,
}  # fmt: skip


def cells(frame: pl.DataFrame, spec: EffectSpec) -> pl.DataFrame:
    """One row a cell that both sides have a trial in, sorted by the cell's columns.

    Columns: the cell's; ``effect`` with its 95 % bootstrap interval ``low``, ``high`` (null below
    three seeds); trials, mean and SD of each side; ``p`` of "no difference", by Student's paired
    test where both sides have the same seeds, else by Welch's; ``p_bh``, Benjamini-Hochberg's over
    the cells, and ``significant``: p_bh below 0.05. Null where there is none: of b for the
    effect "value", the test of it and of SDs.

    Raises:
        NoDataError: no cell has a trial on each side.
        EffectError: the spec does not fit the frame.
    """
    prepared = prepare(frame, spec)
    rows = [_row(one, spec) for one in _each(prepared)]
    tested = [row for row in rows if row["p"] is not None]
    adjusted = benjamini_hochberg([float(row["p"] or 0) for row in tested]).tolist()
    for row, p_bh in zip(tested, adjusted, strict=True):
        row.update(p_bh=p_bh, significant=p_bh < SIGNIFICANT_P)
    found = pl.DataFrame(rows, schema=_SCHEMA)
    return pl.concat([prepared.keys, found], how="horizontal") if spec.cell else found


def _each(prepared: Prepared) -> Iterator[Prepared]:
    """The cells one by one, each with the seeds that it has."""
    for index in range(len(prepared.a.trials)):
        sides = [side for side in (prepared.a, prepared.b) if side is not None]
        there = np.any([side.counts[:, index] > 0 for side in sides], axis=0)
        cut = [
            Side(
                side.totals[there, index : index + 1],
                side.counts[there, index : index + 1],
                *(each[index : index + 1] for each in (side.trials, side.mean, side.sd)),
            )
            for side in sides
        ]
        yield Prepared(
            keys=prepared.keys[index : index + 1],
            seeds=tuple(seed for seed, one in zip(prepared.seeds, there, strict=True) if one),
            a=cut[0],
            b=cut[1] if prepared.b is not None else None,
            trials=prepared.trials,
            left_out=prepared.left_out,
        )


def _row(cell: Prepared, spec: EffectSpec) -> dict[str, float | int | bool | None]:
    draws = resample.effects(cell, spec)[:, 0]
    low, high = (None, None)
    if np.isfinite(draws[0]):
        low, high = interval(draws, logarithmic=spec.kind == "ratio")
    a, b = cell.a, cell.b
    return {
        "effect": _known(draws[0]),
        "low": low,
        "high": high,
        "trials_a": int(a.trials[0]),
        "trials_b": int(b.trials[0]) if b else None,
        "mean_a": _known(a.mean[0]),
        "mean_b": _known(b.mean[0]) if b else None,
        "sd_a": _known(a.sd[0]),
        "sd_b": _known(b.sd[0]) if b else None,
        "p": _p(_by_seed(a, cell.seeds), _by_seed(b, cell.seeds)) if b and spec.of == "mean" else None,
    }


def _by_seed(side: Side, seeds: tuple[int, ...]) -> dict[int, float]:
    """seed → mean of its trials."""
    return {
        seed: float(total / count)
        for seed, total, count in zip(seeds, side.totals[:, 0], side.counts[:, 0], strict=True)
        if count > 0
    }


def _p(a: Mapping[int, float], b: Mapping[int, float]) -> float | None:
    """Of "no difference"; None with one seed on a side."""
    if min(len(a), len(b)) < 2:
        return None
    if a.keys() != b.keys():
        return welch(list(a.values()), list(b.values())).p
    return p_value(a, b)


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
