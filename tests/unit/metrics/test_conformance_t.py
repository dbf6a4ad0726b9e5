from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.metrics import conformance as plain
from cambrian.metrics.conformance_t import (
    Shape,
    Translated,
    conformance,
    conformance_t,
    imc22_shape,
    region_shape,
)
from cambrian.metrics.envelope import from_points
from tests.unit.metrics.test_clustered import region

UNIT = np.array([2.0, 5.0])
#: each example is a search: tens of milliseconds, more on a busy machine
FEW = settings(max_examples=12, deadline=None)
SHIFTS = st.tuples(st.floats(-15, 15), st.floats(-60, 60)).map(np.array)


def cloud(seed: int, count: int = 150) -> np.ndarray:
    """Like a real one: 10 ± 2 Mbps at 30 ± 8 ms, correlated."""
    draw = np.random.default_rng(seed)
    points: np.ndarray = draw.normal(size=(count, 2)) @ np.array([[2.0, 4.0], [0.0, 6.0]]) + [10.0, 30.0]
    return points


def imc22(points: np.ndarray) -> Shape:
    return imc22_shape(from_points(points))


def clustered(points: np.ndarray) -> Shape:
    return region_shape(region(np.array_split(points, 3), UNIT))


METHODS = pytest.mark.parametrize("shape", [imc22, clustered])


def close(found: Translated, shift: np.ndarray) -> bool:
    """Within a step of the grid that the search ended with."""
    return bool(
        abs(found.delta_throughput_mbps - shift[0]) <= found.step_throughput_mbps
        and abs(found.delta_delay_ms - shift[1]) <= found.step_delay_ms
    )


@METHODS
@FEW
@given(shift=SHIFTS)
def test_a_translation_is_found(shape: object, shift: np.ndarray) -> None:
    points = cloud(1)
    found = conformance_t(shape(points + shift), shape(points))  # type: ignore[operator]
    assert found.conformance_t == pytest.approx(1, abs=0.02)
    assert close(found, shift)
    assert found.step_throughput_mbps < 0.05
    assert found.step_delay_ms < 0.2


@FEW
@given(shift=SHIFTS)
def test_a_translation_is_found_where_the_means_do_not_tell_it(shift: np.ndarray) -> None:
    # the same boxes, but one has most of its points in one corner, the other in the opposite one
    along = np.linspace(0, 4, 9)
    grid = np.stack(np.meshgrid(along, 3 * along), axis=-1).reshape(-1, 2)
    holds = region([grid], UNIT)
    corners = [np.concatenate([holds.kept, np.tile(corner, (60, 1))]) for corner in ([1.0, 3.0], [3.0, 9.0])]
    reference = Shape(corners[0], holds.holds)
    test = Shape(corners[1] + shift, lambda points: holds.holds(points - shift))
    found = conformance_t(test, reference)
    assert found.conformance_t >= 0.95
    # moving by the means' difference would be 2 Mbps and 6 ms off
    assert abs(found.delta_throughput_mbps - shift[0]) < 0.6
    assert abs(found.delta_delay_ms - shift[1]) < 1.8


@METHODS
@FEW
@given(seeds=st.tuples(st.integers(0, 99), st.integers(0, 99)), shift=SHIFTS)
def test_never_worse_than_unmoved_and_a_share(
    shape: object, seeds: tuple[int, int], shift: np.ndarray
) -> None:
    test, reference = (shape(cloud(seed, 60)) for seed in seeds)  # type: ignore[operator]
    moved = shape(cloud(seeds[0], 60) + shift)  # type: ignore[operator]
    for one in (test, moved):
        found = conformance_t(one, reference)
        assert found.conformance == conformance(one, reference)
        assert found.conformance <= found.conformance_t <= 1


@METHODS
def test_alike_is_not_moved(shape: object) -> None:
    one = shape(cloud(3))  # type: ignore[operator]
    found = conformance_t(one, one)
    assert (found.conformance, found.conformance_t) == (1, 1)
    assert (found.delta_throughput_mbps, found.delta_delay_ms) == (0, 0)


def test_unmoved_is_the_conformance_of_the_method() -> None:
    one, other = from_points(cloud(4)), from_points(cloud(5) + np.array([1.0, 3.0]))
    assert (
        conformance_t(imc22_shape(one), imc22_shape(other)).conformance
        == plain.compare(one, other).conformance
    )


def test_another_shape_does_not_fit_wherever_it_is_put() -> None:
    wide = cloud(6)
    narrow = (wide - wide.mean(axis=0)) * [0.2, 0.2] + [25.0, 90.0]
    found = conformance_t(imc22(narrow), imc22(wide))
    assert found.conformance == 0
    assert 0.4 < found.conformance_t < 0.75
    assert 10 < found.delta_throughput_mbps < 20


def test_points_on_a_line_and_single_points_move_too() -> None:
    line = np.stack([np.linspace(5, 9, 40), np.full(40, 2.0)], axis=1)
    found = conformance_t(imc22(line + np.array([3.0, 4.0])), imc22(line))
    assert (found.conformance, found.conformance_t) == (0, 1)
    assert (found.delta_throughput_mbps, found.delta_delay_ms) == pytest.approx((3, 4))
    point = conformance_t(imc22(np.array([[7.0, 1.0]])), imc22(np.array([[5.0, 5.0]])))
    assert point.conformance_t == 1
    assert (point.delta_throughput_mbps, point.delta_delay_ms) == pytest.approx((2, -4))


def test_the_move_takes_the_difference_off() -> None:
    points = cloud(8)
    found = conformance_t(imc22(points + np.array([1.0, 2.0])), imc22(points))
    assert found.move == pytest.approx([-1, -2])


def test_nothing_cannot_be_moved() -> None:
    with pytest.raises(ValueError, match="no region"):
        conformance_t(Shape(np.zeros((0, 2)), lambda points: points[:, 0] > 0), imc22(cloud(1)))
