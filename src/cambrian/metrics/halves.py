"""Conformance of the regions of any weighted halves of two arms.

A region (:mod:`cambrian.metrics.clustered`) counts trials at each point. So one test of each point against
each trial's area is enough; each choice of trials is then a sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cambrian.metrics.clustered import Region, coverage
from cambrian.metrics.columns import FloatArray

_Counts = NDArray[np.float32]
#: choices scored at once: what keeps the sums in the processor's cache
_AT_ONCE = 256


@dataclass(frozen=True)
class _Points:
    """One arm's points, alike ones together: ``count`` (p,), which trial's (p, own trials, one-hot),
    and which trials' areas hold them: ``own`` (p, own trials), ``other`` (p, the other arm's trials).
    """

    count: _Counts
    trial: _Counts
    own: _Counts
    other: _Counts

    def held(self, mine: _Counts, others: _Counts) -> tuple[_Counts, _Counts]:
        """For choices of trials (trials, m): points in the own region, and those in both, shape (m,) each."""
        kept = self._within(self.own, mine) * (self.trial @ mine)
        both = kept * self._within(self.other, others)
        return self.count @ kept, self.count @ both

    @staticmethod
    def _within(inside: _Counts, weights: _Counts) -> NDArray[np.bool_]:
        return np.asarray(2 * (inside @ weights) >= weights.sum(axis=0))


class Arms:
    """Two arms, ready to be scored for many choices of their trials."""

    def __init__(self, test: Region, reference: Region) -> None:
        self._test, self._reference = _points(test, reference), _points(reference, test)

    def conformance(self, test_weights: FloatArray, reference_weights: FloatArray) -> FloatArray:
        """Conformance for each of m choices, shape (m,).

        ``test_weights`` (m, test trials) and ``reference_weights`` (m, reference trials): how often
        each trial counts, 0 for not chosen. A trial that counts twice is two trials that are
        alike. NaN where a side has no trial, or neither side's trials share any region.
        """
        pieces = [
            self._some(test_weights[at : at + _AT_ONCE], reference_weights[at : at + _AT_ONCE])
            for at in range(0, len(test_weights), _AT_ONCE)
        ]
        return np.concatenate([np.zeros(0), *pieces])

    def _some(self, test_weights: FloatArray, reference_weights: FloatArray) -> FloatArray:
        u, v = test_weights.T.astype(np.float32), reference_weights.T.astype(np.float32)
        (test_kept, test_both), (kept, both) = self._test.held(u, v), self._reference.held(v, u)
        points = (test_kept + kept).astype(np.float64)
        possible = (points > 0) & (u.sum(axis=0) > 0) & (v.sum(axis=0) > 0)
        found: FloatArray = np.divide(
            (test_both + both).astype(np.float64), points, out=np.full(len(points), np.nan), where=possible
        )
        return found


def _points(mine: Region, other: Region) -> _Points:
    number = np.repeat(np.arange(len(mine.trials)), [len(trial.points) for trial in mine.trials])
    own, others = (coverage(mine.points, region.trials) for region in (mine, other))
    rows, count = np.unique(np.column_stack([number, own, others]), axis=0, return_counts=True)
    middle = 1 + len(mine.trials)
    return _Points(
        count=count.astype(np.float32),
        trial=np.eye(len(mine.trials), dtype=np.float32)[rows[:, 0]],
        own=rows[:, 1:middle].astype(np.float32),
        other=rows[:, middle:].astype(np.float32),
    )
