"""Intervals of figures made of several arms' means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cambrian.metrics.columns import FloatArray
from cambrian.stats.bootstrap import bootstrap
from cambrian.stats.joint import of_means


def test_one_arm_is_the_bootstrap_of_its_mean() -> None:
    values = np.random.default_rng(3).normal(10, 2, 20)
    found = of_means([dict(enumerate(values))], lambda arms: arms[0])
    plain = bootstrap(values, method="percentile")
    assert found.estimate == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=0.05)


def test_seeds_are_drawn_together() -> None:
    # the arms differ by 1 in every seed: only independent draws could make that uncertain
    one = {seed: float(seed**2) for seed in range(8)}
    two = {seed: value + 1 for seed, value in one.items()}
    found = of_means([one, two], lambda arms: arms[1] - arms[0])
    assert (found.estimate, found.low, found.high) == pytest.approx((1, 1, 1))


def test_an_arm_may_lack_a_seed() -> None:
    found = of_means([{1: 2.0, 2: 4.0, 3: 6.0}, {2: 1.0}], lambda arms: arms[0] / arms[1])
    assert found.estimate == 4
    assert found.n == 3
    assert found.low < 4 < found.high


def test_too_few_seeds_give_no_bounds() -> None:
    found = of_means([{1: 2.0, 2: 4.0}], lambda arms: arms[0])
    assert found.estimate == 3
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    with pytest.raises(ValueError, match="needs a trial"):
        of_means([{1: 2.0}, {}], lambda arms: arms[0])
    with pytest.raises(ValueError, match="finite"):
        of_means([{1: math.nan}], lambda arms: arms[0])


def test_the_interval_covers() -> None:
    draw = np.random.default_rng(11)

    def ratio(arms: list[FloatArray]) -> FloatArray:
        return arms[0] / arms[1]

    hits = 0
    for _ in range(200):
        one, two = draw.normal(10, 1, 12), draw.normal(20, 1, 12)
        found = of_means([dict(enumerate(one)), dict(enumerate(two))], ratio)  # type: ignore[arg-type]
        hits += found.low <= 0.5 <= found.high
    assert 0.86 <= hits / 200 <= 0.99
