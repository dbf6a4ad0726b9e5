from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.stats.correction import benjamini_hochberg
from cambrian.stats.exact import expected_count, median_interval
from cambrian.stats.stopping import StoppingRule

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_expected_count_by_hand() -> None:
    assert expected_count(4, 0.5, 0.8) == (1, 3)  # P(1..3) = 14/16, P(2) = 6/16
    assert expected_count(1000, 0.0) == (0, 0)


def test_median_interval_by_hand() -> None:
    # For n = 10 the 2nd and the 9th cover with 1 - 2·(1 + 10)/2¹⁰ = 97.9 %, the 3rd and 8th with 89.1 %.
    interval = median_interval([9, 1, 8, 2, 7, 3, 6, 4, 5, 10])
    assert (interval.low, interval.estimate, interval.high) == (2, 5.5, 9)
    assert math.isnan(median_interval([1, 2, 3, 4, 5]).low)
    six = median_interval([1, 2, 3, 4, 5, 6])
    assert (six.low, six.high) == (1, 6)


def test_correction_by_hand() -> None:
    assert benjamini_hochberg([0.04, 0.01, 0.03]).tolist() == pytest.approx([0.04, 0.03, 0.04])
    assert len(benjamini_hochberg([])) == 0
    with pytest.raises(ValueError, match="NaN"):
        benjamini_hochberg([0.1, math.nan])


@given(P_VALUES)
@settings(max_examples=50)
def test_the_correction_only_raises(p: list[float]) -> None:
    adjusted = benjamini_hochberg(p)
    assert np.all(adjusted >= np.array(p) - 1e-12)
    assert np.all(adjusted <= 1)
    order = np.argsort(p, kind="stable")
    assert np.all(np.diff(adjusted[order]) >= 0)


def test_stopping_rule() -> None:
    rule = StoppingRule(min_seeds=6, max_seeds=8, half_width=0.5)
    assert not rule.decide([]).stop
    assert not rule.decide([5.0] * 5).stop
    narrow = rule.decide([5.0, 5.1, 4.9, 5.2, 4.8, 5.0])
    assert narrow.stop
    assert "narrow enough" in narrow.reason
    assert not rule.decide([1, 2, 3, 4, 5, 6.0]).stop
    most = rule.decide([1, 2, 3, 4, 5, 6, 7, 8.0])
    assert most.stop
    assert "not narrow enough" in most.reason
    # One arm short, one long: the median is not within ± 0.5.
    assert not rule.decide([5, 5, 5, 5, 5, 5.9]).stop
    with pytest.raises(ValueError, match="min_seeds"):
        StoppingRule(5, 4, 1)
