"""Who is accused of another law of growth, and where nobody can be."""

from __future__ import annotations

import numpy as np
import pytest

from cambrian.metrics.parameters import cubic_curve
from cambrian.metrics.parameters.cubic_growth import Law, follow
from cambrian.metrics.parameters.epochs import Epochs
from cambrian.metrics.parameters.estimate import Estimate, Missing

STANDARD = Law(c=0.4, converging=0.85, alpha=0.529, lead_s=0.05, ahead_s=0.05)


def epochs(before: float, seconds: float, rtt_s: float = 0.05, count: int = 6) -> Epochs:
    """Epochs of one length after a loss at ``before`` segments, whose window follows the standard."""
    moments = np.linspace(0, seconds, 40)
    after = 0.7 * before
    acked = np.diff(moments, prepend=0.0) / rtt_s * after
    bare = Epochs(
        passed_s=np.tile(moments, (count, 1)),
        segments=np.zeros((count, len(moments))),
        acked=np.tile(acked, (count, 1)),
        before=np.full(count, before),
        after=np.full(count, after),
        number=np.arange(count),
    )
    segments = follow(STANDARD, bare, np.zeros(count, bool))
    return Epochs(bare.passed_s, segments, bare.acked, bare.before, bare.after, bare.number)


def growth(seen: Epochs) -> Estimate | Missing:
    found = cubic_curve.estimates(seen, np.full(len(seen), -9.0), 0.7, 0.05, "window")
    return next(one for one in found if one.parameter == "cubic_growth")


def bent(seen: Epochs, by: float) -> Epochs:
    """The same with a hump of so many segments in the middle of each epoch: no CUBIC does that."""
    hump = by * np.sin(np.linspace(0, np.pi, seen.segments.shape[1])) ** 8
    segments = seen.segments + hump
    return Epochs(seen.passed_s, segments, seen.acked, seen.before, seen.after, seen.number)


@pytest.mark.parametrize(("before", "seconds"), [(200.0, 10.0), (40.0, 1.5)])
def test_the_standard_is_cubics(before: float, seconds: float) -> None:
    found = growth(epochs(before, seconds))
    assert isinstance(found, Estimate)
    assert found.label == "CUBIC's"


def test_another_law_is_accused_where_the_law_shows() -> None:
    found = growth(bent(epochs(200.0, 10.0), 60.0))
    assert isinstance(found, Estimate)
    assert found.label == "another"


def test_where_renos_estimate_carries_the_window_no_law_of_growth_is_accused() -> None:
    found = growth(bent(epochs(40.0, 1.5), 9.0))
    assert isinstance(found, Missing)
    assert found.why == "Reno's estimate determines the window here"
