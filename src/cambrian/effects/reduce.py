"""Reduce the cells' effects to one figure, of all seeds and without each seed."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import polars as pl

from cambrian.effects.errors import EffectError
from cambrian.effects.model import SummarySpec
from cambrian.effects.where import matching
from cambrian.stats.interval import FloatArray

_Places = np.ndarray[tuple[int], np.dtype[np.intp]]
_PLAIN: dict[str, Callable[..., FloatArray]] = {
    "mean": np.mean,
    "median": np.median,
    "min": np.min,
    "max": np.max,
}


def reduce(effects: FloatArray, keys: pl.DataFrame, spec: SummarySpec) -> FloatArray:
    """The figure of ``spec`` in each row of ``effects`` (rows, cells); shape (rows,).

    ``keys`` has one row for each cell, and the first row has an effect in each. A row in which a cell has
    none (without a seed, a division by 0, or an effect of 0 for a geometric mean) is NaN: without that cell,
    its figure would be of other cells than the figure of all seeds.

    Raises:
        EffectError: the cells have too few values of ``along``, or not the value ``at``.
    """
    if spec.summary == "geometric_mean":
        effects = np.where(effects > 0, effects, np.nan)
    found = _reduced(effects, keys, spec)
    return np.where(np.isfinite(effects).all(axis=1), found, np.nan)


def _reduced(effects: FloatArray, keys: pl.DataFrame, spec: SummarySpec) -> FloatArray:
    if spec.summary in _PLAIN:
        return np.asarray(_PLAIN[spec.summary](effects, axis=1))
    if spec.summary == "geometric_mean":
        return np.asarray(np.exp(np.mean(np.log(effects), axis=1)))
    if spec.summary == "share":
        return _percent(beyond(effects, spec))
    return _along(effects, keys, spec)


def beyond(effects: FloatArray, spec: SummarySpec) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Is each effect beyond the threshold, in the direction ``spec.beyond``?"""
    assert spec.threshold is not None
    return effects > spec.threshold if spec.beyond == "above" else effects < spec.threshold


def steps(keys: pl.DataFrame, spec: SummarySpec) -> tuple[_Places, _Places]:
    """The first and the second cell of each step along ``spec.along``.

    Raises:
        EffectError: there is no step, or not a number in each cell.
    """
    _, groups = _ordered(keys, spec)
    return np.concatenate([one[:-1] for one in groups]), np.concatenate([one[1:] for one in groups])


def leads(effects: FloatArray, keys: pl.DataFrame, spec: SummarySpec) -> FloatArray:
    """Lead over each rival, averaged over the other columns; shape (rows, rivals).

    A rival is a value of ``spec.along`` that is present in all settings with the chosen value. Without one,
    the mean of all other values is the rival.
    """
    found = _settings(keys, spec)
    values = keys[str(spec.along)].to_list()
    everywhere = set.intersection(*({values[cell] for cell in others} for _, others in found))
    columns = [
        np.mean([effects[:, here] - effects[:, cell] for here, others in found for cell in others
                    if values[cell] == rival], axis=0)
        for rival in sorted(everywhere, key=str)
    ]  # fmt: skip
    if not columns:
        columns = [
            np.mean([effects[:, here] - effects[:, others].mean(axis=1) for here, others in found], axis=0)
        ]
    return np.column_stack(columns)


def numbers(keys: pl.DataFrame, along: str) -> FloatArray:
    """The column ``along`` of each cell.

    Raises:
        EffectError: it holds no numbers, or a cell has no value in it, so that it has no place among the
            others.
    """
    kind = keys.schema[along]
    if not kind.is_numeric():
        raise EffectError(f"column {along} is {str(kind).lower()}: slopes, steps and crossovers need numbers")
    values = keys[along].cast(pl.Float64).to_numpy()
    if absent := int(np.isnan(values).sum()):
        remedy = f"leave such cells out by where = {{ {along} = {{ given = true }} }}"
        raise EffectError(f"column {along} has no value in {absent} of {len(values)} cells: {remedy}")
    return values


def _along(effects: FloatArray, keys: pl.DataFrame, spec: SummarySpec) -> FloatArray:
    if spec.summary == "best":
        return _best(effects, keys, spec)
    if spec.summary == "slope":
        values, groups = _ordered(keys, spec)
        slopes = [_theil_sen(effects[:, group], values[group]) for group in groups if len(group) > 1]
        return np.asarray(np.mean(slopes, axis=0))
    one, two = steps(keys, spec)
    changes = effects[:, two] - effects[:, one]
    return _percent(changes < 0 if spec.step == "falls" else changes > 0)


def _ordered(keys: pl.DataFrame, spec: SummarySpec) -> tuple[FloatArray, list[_Places]]:
    """Values of ``along``, and groups of cells that differ only in it, in its order.

    Raises:
        EffectError: the column has only one value, or not a number in each cell.
    """
    assert spec.along is not None
    values = numbers(keys, spec.along)
    groups = [group[np.argsort(values[group], kind="stable")] for group in _groups(keys, spec.along)]
    if not any(len(group) > 1 for group in groups):
        raise EffectError(f"column {spec.along} has only one value")
    return values, groups


def _best(effects: FloatArray, keys: pl.DataFrame, spec: SummarySpec) -> FloatArray:
    found = []
    for here, others in _settings(keys, spec):
        rest = effects[:, others]
        rival = np.max(rest, axis=1) if spec.beyond == "above" else np.min(rest, axis=1)
        found.append(effects[:, here] - rival)
    return np.asarray(np.mean(found, axis=0))


def _settings(keys: pl.DataFrame, spec: SummarySpec) -> list[tuple[int, list[int]]]:
    """For each combination of the other columns, the chosen cell and its rivals.

    Raises:
        EffectError: no combination has a rival.
    """
    assert spec.along is not None
    assert spec.at is not None
    numbered = keys.with_row_index("__cell")
    chosen = set(matching(numbered, {spec.along: spec.at})["__cell"].to_list())
    found = []
    for group in _groups(keys, spec.along):
        here = [int(cell) for cell in group if cell in chosen]
        others = [int(cell) for cell in group if cell not in chosen]
        if here and others:
            found.append((here[0], others))
    if not found:
        raise EffectError(f"no setting has both {spec.along} = {spec.at} and another value of it")
    return found


def _groups(keys: pl.DataFrame, along: str) -> list[_Places]:
    """Groups of cells that differ only in ``along``."""
    others = [name for name in keys.columns if name != along]
    if not others:
        return [np.arange(len(keys))]
    numbered = keys.with_row_index("__cell")
    grouped = numbered.group_by(others, maintain_order=True).agg("__cell")
    return [np.asarray(cells, dtype=np.intp) for cells in grouped["__cell"].to_list()]


def _theil_sen(effects: FloatArray, values: FloatArray) -> FloatArray:
    """Median slope over all pairs of cells. Sources: Theil (1950); Sen, J. Am. Stat. Assoc. 63 (1968)."""
    slopes = [
        (effects[:, two] - effects[:, one]) / (values[two] - values[one])
        for one, two in itertools.combinations(range(len(values)), 2)
    ]
    return np.asarray(np.median(slopes, axis=0))


def _percent(hits: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> FloatArray:
    """Percentage of hits in each row."""
    return np.asarray(100.0 * hits.sum(axis=1) / hits.shape[1])
