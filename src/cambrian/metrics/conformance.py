"""Conformance and deviation of two performance envelopes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from cambrian.metrics.columns import BoolArray, FloatArray
from cambrian.metrics.envelope import Envelope

#: A point this near a hull is in it (Mbps and ms mixed, as the plane is). It absorbs
#: rounding only: 1 ns of delay is 10⁻⁶ ms.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Similarity:
    """Test envelope set beside reference envelope.

    ``conformance`` in [0, 1]; ``deviation`` the distance of the two means in the raw plane
    (Mbps and ms mixed, as QUICbench does); ``deviation_sd`` the same with each axis in
    units of the reference's SD (ours; NaN where the reference does not vary);
    ``delta_throughput_mbps`` and ``delta_delay_ms`` test minus reference.
    """

    conformance: float
    deviation: float
    deviation_sd: float
    delta_throughput_mbps: float
    delta_delay_ms: float
    test_inside: int
    test_points: int
    reference_inside: int
    reference_points: int


def inside(points: FloatArray, hull: BaseGeometry) -> BoolArray:
    """Which of the points (n, 2) lie in the hull, its boundary included; shape (n,).

    A degenerate hull (segment or point) holds the points that lie on it.
    """
    shapely.prepare(hull)
    return np.asarray(shapely.dwithin(hull, shapely.points(points), TOLERANCE), dtype=np.bool_)


def compare(test: Envelope, reference: Envelope) -> Similarity:
    """Conformance and deviation of ``test`` against ``reference``.

    Conformance = (|P_test in hull_ref| + |P_ref in hull_test|) / (|P_test| + |P_ref|), P
    being the kept points. Deviation uses the means of all the points, before the trim.
    Source: QUICbench's public code (IMC 2022). Conformance and deviation are symmetric.
    """
    test_inside = int(inside(test.kept, reference.hull).sum())
    reference_inside = int(inside(reference.kept, test.hull).sum())
    delta = test.mean - reference.mean
    sd = reference.sd
    scaled = np.divide(delta, sd, out=np.full(2, np.nan), where=sd > 0)
    return Similarity(
        conformance=(test_inside + reference_inside) / (len(test.kept) + len(reference.kept)),
        deviation=float(np.hypot(*delta)),
        deviation_sd=float(np.hypot(*scaled)),
        delta_throughput_mbps=float(delta[0]),
        delta_delay_ms=float(delta[1]),
        test_inside=test_inside,
        test_points=len(test.kept),
        reference_inside=reference_inside,
        reference_points=len(reference.kept),
    )
