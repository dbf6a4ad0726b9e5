"""Additive increase: segments that Reno adds a round trip.

Of W segments each acknowledged one adds α/W (RFC 5681 section 3.1, RFC 9002 section 7.3.3), so
W₁² − W₀² = 2·α·acknowledged: no round trip has to be known.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cambrian.metrics.parameters.epochs import Epochs
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source

#: segments that the difference of two windows may be off by
ERROR_SEGMENTS: dict[Source, float] = {"window": 1.0, "packets": 3.0}


def estimates(seen: Epochs, source: Source) -> Iterator[Estimate | Missing]:
    """α of each epoch, from its first moment to its last."""
    if not len(seen):
        yield Missing("alpha", "no congestion avoidance between two congestion events", source)
        return
    first, last = seen.segments[:, 0], seen.segments[:, -1]
    acked = seen.acked.sum(axis=1)
    alpha = (last**2 - first**2) / (2 * acked)
    error = ERROR_SEGMENTS[source] * last / acked
    yield Estimate("alpha", tuple(alpha.tolist()), float(np.median(error)), source)
