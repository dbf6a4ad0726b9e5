"""Conformance-T: the highest conformance that a translation of the test's envelope reaches.

Low conformance with high Conformance-T points to a wrong parameter: the shape is the reference's, at
another place. The idea is from Mishra and Leong (IMC 2023); the search is ours. It works for each kind of
envelope that has a test for points inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import scipy

from cambrian.metrics.clustered import Region
from cambrian.metrics.columns import BoolArray, FloatArray
from cambrian.metrics.conformance import inside
from cambrian.metrics.envelope import Envelope

#: cells of the coarse grid along each axis of the larger envelope
_CELLS = 32
#: cells of the coarse grid from which the local search may start
_STARTS = 4
#: how often the local search halves its step
_HALVINGS = 4
_AROUND = np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)], dtype=np.float64)


@dataclass(frozen=True)
class Shape:
    """An envelope as conformance sees it: its counted ``points`` (m, 2), and what it ``holds``.

    ``holds`` takes points (n, 2) and gives those in the envelope as booleans, shape (n,).
    """

    points: FloatArray
    holds: Callable[[FloatArray], BoolArray]


@dataclass(frozen=True)
class Translated:
    """Test against reference, the test moved to where it fits best.

    ``conformance`` without moving; ``conformance_t`` the best one, never less.
    ``delta_throughput_mbps`` and ``delta_delay_ms``: test minus reference, the translation
    that was taken *off* the test. ``step_…``: the grid's step at the end of the search.
    """

    conformance: float
    conformance_t: float
    delta_throughput_mbps: float
    delta_delay_ms: float
    step_throughput_mbps: float
    step_delay_ms: float

    @property
    def move(self) -> FloatArray:
        """What was added to the test, shape (2,)."""
        return -np.array([self.delta_throughput_mbps, self.delta_delay_ms])


def imc22_shape(envelope: Envelope) -> Shape:
    """An envelope of one hull (``imc22`` or pooled)."""
    return Shape(envelope.kept, lambda points: inside(points, envelope.hull))


def region_shape(region: Region) -> Shape:
    """An envelope of method ``clustered``."""
    return Shape(region.kept, region.holds)


def conformance(test: Shape, reference: Shape) -> float:
    """(|P_test in reference| + |P_ref in test|) / (|P_test| + |P_ref|); NaN without points."""
    return _score(test, reference, np.zeros(2))


def conformance_t(test: Shape, reference: Shape) -> Translated:
    """Conformance-T by a coarse grid and a local search.

    The grid has a 32nd of the larger envelope's width and height as its step and covers every
    translation at which the two can meet; there points and envelopes are rasters, and the
    counts of all translations are two convolutions. From its best four cells, from the
    difference of the means and from no translation at all, the best by exact count is
    followed: to the best of its eight neighbours as long as that is better, then with
    half the step, four times. Of equally good translations the smallest is taken.

    Raises ``ValueError`` where a shape has no points: no region, hence nothing to move.
    """
    if len(test.points) == 0 or len(reference.points) == 0:
        raise ValueError("an envelope without points cannot be moved: its trials share no region")
    step = _extent(test, reference) / _CELLS
    starts = [np.zeros(2), reference.points.mean(axis=0) - test.points.mean(axis=0)]
    search = _Search(test, reference, step)
    move = search.best([*starts, *_coarse(test, reference, step)])
    for _ in range(_HALVINGS):
        move, step = search.follow(move, step), step / 2
    move = search.follow(move, step)
    delta = 0.0 - move
    return Translated(
        conformance=search.score(np.zeros(2)),
        conformance_t=search.score(move),
        delta_throughput_mbps=float(delta[0]),
        delta_delay_ms=float(delta[1]),
        step_throughput_mbps=float(step[0]),
        step_delay_ms=float(step[1]),
    )


class _Search:
    """Exact counts at translations of the test, each counted once."""

    def __init__(self, test: Shape, reference: Shape, unit: FloatArray) -> None:
        self._test, self._reference, self._unit = test, reference, unit
        self._known: dict[tuple[float, float], float] = {}

    def score(self, move: FloatArray) -> float:
        place = (float(move[0]), float(move[1]))
        if place not in self._known:
            self._known[place] = _score(self._test, self._reference, move)
        return self._known[place]

    def best(self, moves: Iterable[FloatArray]) -> FloatArray:
        """The best, the smallest among equals."""
        return min(moves, key=lambda move: (-self.score(move), float(np.hypot(*(move / self._unit)))))

    def follow(self, move: FloatArray, step: FloatArray) -> FloatArray:
        """Uphill in steps, to the first translation without a better neighbour."""
        while True:
            found = self.best([move, *(move + around * step for around in _AROUND)])
            if self.score(found) <= self.score(move):
                return move
            move = found


def _score(test: Shape, reference: Shape, move: FloatArray) -> float:
    count = len(test.points) + len(reference.points)
    if count == 0:
        return float("nan")
    held = reference.holds(test.points + move).sum() + test.holds(reference.points - move).sum()
    return int(held) / count


def _extent(test: Shape, reference: Shape) -> FloatArray:
    """The larger width and height of the two, shape (2,); 1 where neither has any."""
    extent = np.maximum(np.ptp(test.points, axis=0), np.ptp(reference.points, axis=0))
    return np.where(extent > 0, extent, 1.0)


def _coarse(test: Shape, reference: Shape, step: FloatArray) -> list[FloatArray]:
    """The best translations on the grid, best first, at most four."""
    origins = [
        (shape.points.min(axis=0) + shape.points.max(axis=0) - step * _CELLS) / 2
        for shape in (test, reference)
    ]
    (test_points, test_area), (reference_points, reference_area) = (
        _rasters(shape, origin, step) for shape, origin in zip((test, reference), origins, strict=True)
    )
    # entry [i, j]: the test moved by (i, j) - (cells - 1) cells, once the origins are aligned
    counts = scipy.signal.fftconvolve(reference_area, test_points[::-1, ::-1])
    counts += scipy.signal.fftconvolve(reference_points, test_area[::-1, ::-1])
    ranked = np.argsort(-np.rint(counts), axis=None, kind="stable")[:_STARTS]
    cells = np.stack(np.unravel_index(ranked, counts.shape), axis=1) - (len(test_area) - 1)
    return list(cells * step + (origins[1] - origins[0]))


def _rasters(shape: Shape, origin: FloatArray, step: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How many points are in each cell, and which cells' centres are in the envelope."""
    cells = np.clip(((shape.points - origin) / step).astype(np.int64), 0, _CELLS - 1)
    counts = np.zeros((_CELLS, _CELLS))
    np.add.at(counts, (cells[:, 0], cells[:, 1]), 1.0)
    x, y = np.meshgrid(
        *(origin[axis] + (np.arange(_CELLS) + 0.5) * step[axis] for axis in (0, 1)), indexing="ij"
    )
    held = shape.holds(np.stack([x.ravel(), y.ravel()], axis=1))
    return counts, held.reshape(_CELLS, _CELLS).astype(np.float64)
