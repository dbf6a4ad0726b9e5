"""Additive increase: segments that Reno adds in each round trip.

With a window of W segments each acknowledged segment adds α/W (RFC 5681 section 3.1, RFC 9002 section 7.3.3),
so W₁² − W₀² = 2·α·acknowledged: round trips need not be known. Acknowledgements in recovery add nothing and
do not count. Some windows grow by whole segments, each when a window of them is acknowledged: an exported
window is compared from one step to another.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cambrian.metrics.columns import Int64Array
from cambrian.metrics.parameters.epochs import acknowledged, stretches
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.reductions import Reductions
from cambrian.metrics.parameters.window import Window

#: largest error of the difference of two windows, in segments
ERROR_SEGMENTS: dict[Source, float] = {"window": 1.0, "packets": 3.0}
#: smallest growth of an epoch, in segments
LEAST_GROWTH = 3.0


def estimates(trace: FlowTrace, window: Window, found: Reductions) -> Iterator[Estimate | Missing]:
    """α of each epoch, from its first growth to its last."""
    begun_ns, ended_ns, _ = stretches(trace, window, found)
    spans = [
        span
        for begin_ns, end_ns in zip(begun_ns, ended_ns, strict=True)
        if (span := _growth(window, int(begin_ns), int(end_ns))) is not None
    ]
    rows = np.array(spans, dtype=np.int64).reshape(-1, 2)
    acked = np.diff(acknowledged(trace, window.time_ns[rows]), axis=1)[:, 0]
    # a window may also grow by what was acknowledged before
    rows, acked = rows[acked > 0], acked[acked > 0]
    if not len(rows):
        yield Missing("alpha", "no congestion avoidance between two congestion events", window.source)
        return
    first, last = window.segments[rows[:, 0]], window.segments[rows[:, 1]]
    alpha = (last**2 - first**2) / (2 * acked)
    error = ERROR_SEGMENTS[window.source] * last / acked
    yield Estimate("alpha", tuple(alpha.tolist()), float(np.median(error)), window.source)


def _growth(window: Window, begin_ns: int, end_ns: int) -> tuple[int, int] | None:
    """The rows of an epoch's first growth and its last; of a flight, its first row and its last."""
    rows: Int64Array = np.arange(*np.searchsorted(window.time_ns, [begin_ns, end_ns]), dtype=np.int64)
    if window.source == "window":
        rows = rows[1:][np.diff(window.segments[rows]) > 0]
    if len(rows) < 2 or window.segments[rows[-1]] - window.segments[rows[0]] < LEAST_GROWTH:
        return None
    return int(rows[0]), int(rows[-1])
