"""The cells' effects of all seeds and without each seed: the input of all intervals over cells."""

from __future__ import annotations

import numpy as np

from cambrian.effects.model import EffectSpec, Kind
from cambrian.effects.prepare import Prepared, Side
from cambrian.stats import jackknife
from cambrian.stats.interval import FloatArray


def effects(prepared: Prepared, spec: EffectSpec) -> FloatArray:
    """Each cell's effect of all seeds, then without each seed; shape (1 + seeds, cells); NaN without a value.

    Only the first row for fewer than three seeds (:mod:`cambrian.stats.jackknife`).
    """
    found_a = _figure(prepared.a, spec)
    if prepared.b is None:
        return found_a
    return compare(spec.kind, found_a, _figure(prepared.b, spec))


def compare(kind: Kind, a: FloatArray, b: FloatArray) -> FloatArray:
    """Compare a with b by element; NaN for a ratio to 0."""
    if kind == "difference":
        return a - b
    ratio: FloatArray = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    if kind == "percent_less":
        return 100 * (1 - ratio)
    return 100 * (ratio - 1) if kind == "percent_more" else ratio


def _figure(side: Side, spec: EffectSpec) -> FloatArray:
    """Mean of a cell's seeds, or their SD (NaN for one seed)."""
    means = jackknife.means_without(side.values)
    if spec.of == "mean":
        return means
    squares = jackknife.means_without(np.square(side.values - side.mean))
    count = jackknife.without(np.add, np.isfinite(side.values), 0)
    variance = squares - np.square(means - side.mean)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.sqrt(np.maximum(variance, 0) * count / (count - 1)))
