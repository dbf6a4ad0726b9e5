"""Performance envelopes, method ``clustered``: hulls of clusters, in the area where half of the trials agree.

Our method, inspired by the follow-up of QUICbench (Mishra and Leong, "Containing the Cambrian
Explosion in QUIC Congestion Control", IMC 2023), which describes an envelope as a union of
hulls of k-means clusters stabilised over trials. An arm is all trials of one implementation on one network.
Points are rows (throughput_mbps, delay_ms).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from cambrian.metrics.columns import BoolArray, FloatArray, Int64Array
from cambrian.metrics.envelope import POINTS_KEPT

MOST_CLUSTERS = 5
#: more than one cluster only above this mean silhouette
LEAST_SILHOUETTE = 0.5
#: k-means starts this often, from a fixed seed
_STARTS = 10
_RANDOM_STATE = 1
#: hulls are grown by this (1 bit/s and 1 ns), so that boundaries count as inside and a hull of
#: collinear points has an area; it is larger than rounding and smaller than any measured step
GROWN = 1e-6


@dataclass(frozen=True)
class TrialArea:
    """One trial of an arm: its ``points`` (n, 2), and the union of its clusters' hulls."""

    points: FloatArray
    area: BaseGeometry
    clusters: int


@dataclass(frozen=True)
class Region:
    """Where at least half of an arm's trials are. Raises ``ValueError`` without trials.

    ``kept`` (m, 2): those of the arm's points that lie in it; conformance counts these, as
    ``imc22`` counts the points within its hull, so an arm scores 1 against itself.
    """

    trials: tuple[TrialArea, ...]

    def __post_init__(self) -> None:
        if not self.trials:
            raise ValueError("a region needs at least one trial")
        # an area that was kept on disk has lost its preparation
        shapely.prepare([trial.area for trial in self.trials])

    @cached_property
    def points(self) -> FloatArray:
        """All points of all trials, shape (n, 2)."""
        return np.concatenate([trial.points for trial in self.trials])

    @cached_property
    def kept(self) -> FloatArray:
        """The points that lie in the region, shape (m, 2); m may be 0."""
        return self.points[self.holds(self.points)]

    @cached_property
    def mean(self) -> FloatArray:
        """Mean of all points, shape (2,)."""
        return np.asarray(self.points.mean(axis=0))

    def holds(self, points: FloatArray) -> BoolArray:
        """Which of the points (n, 2) lie in the region, shape (n,)."""
        return np.asarray(2 * coverage(points, self.trials).sum(axis=1) >= len(self.trials))

    def moved(self, move: FloatArray) -> Region:
        """The same region elsewhere: ``move`` is (throughput_mbps, delay_ms)."""
        return Region(tuple(_moved(trial, move) for trial in self.trials))


def _moved(trial: TrialArea, move: FloatArray) -> TrialArea:
    area = shapely.transform(trial.area, lambda corners: corners + move)
    return TrialArea(trial.points + move, area, trial.clusters)


def scale(references: Sequence[FloatArray]) -> FloatArray:
    """What one unit of each axis is, shape (2,): the SD of all points of the reference's trials.

    An axis on which the reference does not vary keeps its raw unit.
    """
    points = np.concatenate([np.asarray(one, dtype=np.float64) for one in references])
    sd = points.std(axis=0, ddof=1) if len(points) > 1 else np.zeros(2)
    return np.where(sd > 0, sd, 1.0)


def trial_area(points: FloatArray, unit: FloatArray) -> TrialArea:
    """Cluster one trial's points, trim each cluster to its inner 95 %, hull each, join the hulls.

    ``points``: (n, 2) with n ≥ 1, in any order (they are sorted first). ``unit``: :func:`scale` of the
    reference's trials, for both arms. Raises ``ValueError`` for points of another shape, or not finite.
    """
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
        raise ValueError(f"points must have shape (n, 2) with n ≥ 1, not {points.shape}")
    if not np.all(np.isfinite(points)):
        raise ValueError("points must be finite")
    points = points[np.lexsort((points[:, 1], points[:, 0]))]
    labels = clusters(points / unit)
    count = int(labels.max()) + 1
    hulls = [_hull(points[labels == label], unit) for label in range(count)]
    return TrialArea(points, shapely.union_all(hulls), count)


def clusters(points: FloatArray) -> Int64Array:
    """A label 0…k-1 for each of the points (n, 2), which are sorted and scaled.

    k-means for k = 2…5; of them the k with the highest mean silhouette (Rousseeuw 1987,
    the smaller k among equals), or one cluster where that is not above 0.5.
    """
    # most commands cluster nothing, and scikit-learn takes half a second to import
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score
    from threadpoolctl import threadpool_limits

    best = np.zeros(len(points), dtype=np.int64)
    best_score = LEAST_SILHOUETTE
    distinct = len(np.unique(points, axis=0))
    # one thread: sums in a fixed order, and on a busy machine threads wait for each other
    with threadpool_limits(1):
        for k in range(2, min(MOST_CLUSTERS, distinct - 1) + 1):
            labels = KMeans(k, n_init=_STARTS, random_state=_RANDOM_STATE).fit(points).labels_
            score = float(silhouette_score(points, labels))
            if score > best_score:
                best, best_score = labels.astype(np.int64), score
    return best


def _hull(points: FloatArray, unit: FloatArray) -> BaseGeometry:
    distance = np.square((points - points.mean(axis=0)) / unit).sum(axis=1)
    kept = np.argsort(distance, kind="stable")[: max(1, int(len(points) * POINTS_KEPT))]
    hull = shapely.MultiPoint(points[kept]).convex_hull
    return shapely.buffer(hull, GROWN, quad_segs=1, join_style="mitre")


def coverage(points: FloatArray, trials: Sequence[TrialArea]) -> BoolArray:
    """Whether each of the points (n, 2) lies in each trial's area, shape (n, trials)."""
    inside = [shapely.contains_xy(trial.area, points[:, 0], points[:, 1]) for trial in trials]
    return np.asarray(np.stack(inside, axis=1), dtype=np.bool_)


def outline(one: Region) -> BaseGeometry:
    """The region as a geometry, for drawing: (Multi)Polygon, empty where no half of the trials meet.

    Every boundary is cut at every other; of the faces, those that half of the trials cover stay.
    """
    lines = shapely.union_all([trial.area.boundary for trial in one.trials])
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(lines)))
    if len(faces) == 0:
        return shapely.Polygon()
    centres = shapely.get_coordinates(shapely.point_on_surface(faces))
    return shapely.union_all(faces[one.holds(centres)])
