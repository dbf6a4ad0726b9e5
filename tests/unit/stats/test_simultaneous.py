"""Bounds on many cells at once: by hand, and their limits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.stats import simultaneous
from cambrian.stats.simultaneous import Cells


def cells(estimates: list[float], error: float = 0.1, freedom: float = 4) -> Cells:
    count = len(estimates)
    return Cells(np.array(estimates), np.full(count, error), np.full(count, freedom))


def test_how_many_are_surely_beyond_by_hand() -> None:
    # all four at 0.02 ≤ 0.025: each subset's largest p times 1 is enough
    assert simultaneous.surely(np.array([0.02] * 4)) == 4
    # 0.03 alone may be true; with it, 0.02 times 2 / 1 and 0.03 are not enough either
    assert simultaneous.surely(np.array([0.02, 0.03])) == 0
    assert simultaneous.surely(np.array([0.01, 0.03])) == 1
    assert simultaneous.surely(np.array([])) == 0


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_it_is_closed_testing_with_simes(p: list[float]) -> None:
    """Against its definition: the fewest false hypotheses over all sets that no test rejects."""
    values = np.array(p)
    least = len(p)
    for chosen in range(2 ** len(p)):
        true = [index for index in range(len(p)) if chosen >> index & 1]
        if not true or simultaneous.simes(values[true]) > simultaneous.ALPHA:
            least = min(least, len(p) - len(true))
    assert simultaneous.surely(values) == least


def test_one_cell_has_students_interval() -> None:
    arm = 0.1 * scipy.stats.t.isf(0.025, 4)
    assert simultaneous.largest(cells([2.0])) == pytest.approx((2 - arm, 2 + arm))
    assert simultaneous.smallest(cells([2.0])) == pytest.approx((2 - arm, 2 + arm))


def test_exact_cells_have_exact_bounds() -> None:
    found = cells([1.0, 3.0, 2.0], error=0.0)
    assert simultaneous.largest(found) == (3, 3)
    assert simultaneous.smallest(found) == (1, 1)
    assert simultaneous.share_above(found, 1.5) == pytest.approx((2 / 3, 2 / 3))
    assert simultaneous.share_above(found, 3.0) == (0, 0)
    assert simultaneous.crossing(found, 1.5) == (1, 1)
    assert simultaneous.crossing(found, 2.5) == (3, 3)


def test_cells_of_which_nothing_is_known_say_nothing() -> None:
    found = Cells(np.array([9.0, 9.0]), np.array([np.inf, 0.1]), np.array([1.0, 4.0]))
    assert simultaneous.share_above(found, 1.0) == (0.5, 1.0)


@settings(deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=12), st.floats(0.01, 0.5), st.floats(-2, 2))
def test_bounds_hold_what_was_observed(estimates: list[float], error: float, threshold: float) -> None:
    found = cells(estimates, error)
    low, high = simultaneous.share_above(found, threshold)
    assert 0 <= low <= np.mean(found.estimate > threshold) <= high <= 1
    low, high = simultaneous.largest(found)
    assert low <= max(estimates) <= high
    low, high = simultaneous.smallest(found)
    assert low <= min(estimates) <= high
    first, last = simultaneous.crossing(found, threshold)
    assert 0 <= first <= last <= len(estimates)
