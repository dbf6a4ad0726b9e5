"""The stopping rule with invalid trials; how it walks through seeds is tests/unit/engine's."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.stats.stopping import StoppingRule

RULE = StoppingRule(min_seeds=6, max_seeds=10, half_width=0.5)
WIDE, NARROW = [1, 3, 5, 7, 9, 11.0], [5.0] * 6


def test_invalid_trials_count_towards_the_most_only() -> None:
    assert not RULE.decide(NARROW[:5], run=9).stop
    ended = RULE.decide(NARROW[:5], run=10)
    assert ended.stop
    assert not ended.narrow
    assert ended.reason.endswith("not narrow enough: no interval, of 10 seeds 5 valid")
    assert RULE.decide(NARROW, run=8).narrow
    assert RULE.decide([], run=10).interval is None
    assert RULE.decide(WIDE, run=10).reason.endswith("± 5 against 0.5, of 10 seeds 6 valid")


@pytest.mark.parametrize(
    ("valid", "run", "more"), [(0, 0, 6), (4, 5, 2), (6, 6, 1), (6, 9, 1), (2, 9, 1), (5, 5, 1)]
)
def test_what_must_be_run_in_any_case(valid: int, run: int, more: int) -> None:
    assert RULE.surely_more(valid, run) == more


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=10, max_size=10))
def test_no_stop_is_ever_jumped_over(outcomes: list[int | None]) -> None:
    """Between two looks at what was surely needed, the rule could not have said stop."""
    run = 0
    while not RULE.decide([value for value in outcomes[:run] if value is not None], run).stop:
        valid = sum(value is not None for value in outcomes[:run])
        more = RULE.surely_more(valid, run)
        assert more >= 1
        for between in range(run + 1, run + more):
            values = [value for value in outcomes[:between] if value is not None]
            assert not RULE.decide(values, between).stop
        run += more
    assert run <= RULE.max_seeds
