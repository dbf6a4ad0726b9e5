"""A page's corrections: what a verdict rests on, and what a map shows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.report import families
from cambrian.stats.correction import holm


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_is_bonferroni_step_by_step(p: list[float]) -> None:
    adjusted = holm(p)
    smallest = int(np.argmin(p))
    assert adjusted[smallest] == pytest.approx(min(len(p) * p[smallest], 1))
    assert all(adjusted >= np.array(p))
    order = np.argsort(p, kind="stable")
    assert all(np.diff(adjusted[order]) >= 0)


def test_what_was_not_tested_counts_for_nothing() -> None:
    assert families.corrected_for_verdicts([None, 0.001, None]) == [
        None,
        families.VERDICT_FAMILIES * 0.001,
        None,
    ]
    assert families.corrected([None, 0.04]) == [None, 0.04]


def test_a_level_is_what_p_must_reach_in_its_family() -> None:
    # also where the corrected p is 1
    assert families.levels_for_verdicts([0.5, None, 0.001]) == [
        pytest.approx(0.05 / 6),
        None,
        pytest.approx(0.05 / 12),
    ]
    assert families.levels([0.04, 0.2, None]) == [pytest.approx(0.025), pytest.approx(0.05), None]
    for p in (0.04, 0.9):
        (level,) = families.levels_for_verdicts([p])
        assert level is not None
        assert families.corrected_for_verdicts([level]) == [pytest.approx(0.05)]
    assert families.levels([0.0]) == [pytest.approx(0.05)]


def test_no_correction_makes_a_level_larger() -> None:
    """A rounding error did, in one of twenty families."""
    random = np.random.default_rng(1)
    for count in (2, 5, 10) * 300:
        p = random.uniform(0, 1, count).tolist()
        for found in (families.levels(p), families.levels_for_verdicts(p)):
            assert all(level is not None and 0 < level <= 0.05 for level in found)


def test_a_placebo_beside_true_differences_is_rarely_accused() -> None:
    """Six families of ten tests: eight differ without doubt, two are placebos with p values of nothing."""
    draw = np.random.default_rng(1)
    pages, verdicts, maps = 1000, 0, 0
    for _ in range(pages):
        tests = [[*np.full(8, 1e-9), *draw.uniform(size=2)] for _ in range(families.VERDICT_FAMILIES)]
        verdicts += any((np.array(families.corrected_for_verdicts(p))[8:] <= 0.05).any() for p in tests)
        maps += any((np.array(families.corrected(p))[8:] <= 0.05).any() for p in tests)
    assert verdicts / pages <= 0.065  # 5 % and two standard errors
    assert maps / pages > 0.2
