from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from cambrian.stats.compare import welch
from cambrian.stats.paired import paired

VALUES = st.lists(st.integers(-1000, 1000), min_size=3, max_size=12)


def by_seed(values: list[float]) -> dict[int, float]:
    return dict(enumerate(values, start=1))


def test_by_hand() -> None:
    # differences 1, 2, 3: mean 2, SD 1, t = 2√3, d_z = 2, J(2) = Γ(1)/(√1·Γ(1/2)) = 1/√π
    found = paired(by_seed([11, 22, 33]), {**by_seed([10, 20, 30]), 9: 5.0})
    assert found.difference.estimate == pytest.approx(2)
    assert (found.difference.n, found.unpaired, found.df) == (3, 1, 2)
    assert found.t == pytest.approx(2 * math.sqrt(3))
    assert found.cohen_dz == pytest.approx(2)
    assert found.hedges_gz == pytest.approx(2 / math.sqrt(math.pi))
    assert found.p == pytest.approx(scipy.stats.ttest_rel([11, 22, 33], [10, 20, 30]).pvalue)
    assert 1 <= found.difference.low < 2 < found.difference.high <= 3


def test_pairs_go_by_seed_and_not_by_place() -> None:
    a, b = {1: 1.0, 2: 5.0, 3: 9.0}, {3: 8.5, 1: 0.4, 2: 4.2}
    assert paired(a, b).difference.estimate == pytest.approx((0.6 + 0.8 + 0.5) / 3)


def test_pairing_sees_what_two_independent_arms_hide() -> None:
    draw = np.random.default_rng(4)
    common, noise = draw.normal(10, 3, 10), draw.normal(0, 0.1, 10)
    a, b = list(common + 0.3 + noise), list(common)
    assert paired(by_seed(a), by_seed(b)).p < 0.001
    assert welch(a, b).p > 0.5


def test_differences_that_do_not_vary() -> None:
    same = paired(by_seed([0.1 + 0.2, 1.0, 2.0]), by_seed([0.3, 1.0, 2.0]))
    assert (same.t, same.p, same.cohen_dz, same.hedges_gz) == (0, 1, 0, 0)
    shifted = paired(by_seed([0.1, 0.2, 2.8]), by_seed([0.3, 0.4, 3.0]))
    assert (shifted.t, shifted.p, shifted.cohen_dz) == (-math.inf, 0, -math.inf)
    assert shifted.difference.half_width == pytest.approx(0)


def test_too_few_pairs() -> None:
    two = paired(by_seed([1, 2]), by_seed([0, 3]))
    assert math.isnan(two.difference.low)
    assert math.isnan(two.hedges_gz)
    with pytest.raises(ValueError, match="two common seeds"):
        paired({1: 1.0, 2: 2.0}, {2: 1.0, 3: 2.0})
    with pytest.raises(ValueError, match="finite"):
        paired(by_seed([1, math.nan]), by_seed([1, 2]))


@given(VALUES, st.integers(-50, 50))
def test_the_other_way_round_is_the_same_with_the_sign_turned(values: list[float], shift: int) -> None:
    b = [(value * 7 + shift) % 13 for value in values]
    one, other = paired(by_seed(values), by_seed(b)), paired(by_seed(b), by_seed(values))
    assert one.difference.estimate == pytest.approx(-other.difference.estimate)
    assert one.t == pytest.approx(-other.t)
    assert one.p == pytest.approx(other.p)
    assert one.hedges_gz == pytest.approx(-other.hedges_gz)
