from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cambrian.metrics.clustered import Region, clusters, outline, scale, trial_area
from cambrian.metrics.conformance_t import conformance, region_shape
from cambrian.metrics.halves import Arms

UNIT = np.ones(2)
#: each example clusters: tens of milliseconds, more on a busy machine
FEW = settings(max_examples=15, deadline=None)
POINTS = arrays(np.int64, st.tuples(st.integers(1, 30), st.just(2)), elements=st.integers(0, 80)).map(
    lambda numbers: numbers / 4
)


def region(trials: Sequence[np.ndarray], unit: np.ndarray) -> Region:
    return Region(tuple(trial_area(points, unit) for points in trials))


def box(x: float, y: float, side: float = 2.0) -> np.ndarray:
    """A filled square, 11 by 11 points: one cluster, whose corners the trim cuts."""
    along = np.linspace(-side / 2, side / 2, 11)
    return np.stack(np.meshgrid(x + along, y + along), axis=-1).reshape(-1, 2)


def share(one: Region, other: Region) -> float:
    return conformance(region_shape(one), region_shape(other))


def test_one_cloud_is_one_cluster_and_three_are_three() -> None:
    draw = np.random.default_rng(7)
    cloud = draw.normal(size=(60, 2))
    assert set(clusters(cloud)) == {0}
    far = np.concatenate([cloud * 0.3, cloud * 0.3 + [20, 0], cloud * 0.3 + [0, 20]])
    labels = clusters(far)
    assert len(set(labels)) == 3
    assert all(len(set(labels[part : part + 60])) == 1 for part in (0, 60, 120))


def test_few_distinct_points_are_one_cluster() -> None:
    assert clusters(np.array([[1.0, 1.0]])).tolist() == [0]
    assert clusters(np.array([[1.0, 1.0]] * 5 + [[2.0, 2.0]] * 5)).tolist() == [0] * 10


def test_the_gap_between_clusters_is_not_in_the_region() -> None:
    trial = np.concatenate([box(0, 0), box(20, 20)])
    found = region([trial, trial], UNIT)
    assert [one.clusters for one in found.trials] == [2, 2]
    assert found.holds(np.array([[0.0, 0.0], [20.0, 20.0], [10.0, 10.0]])).tolist() == [True, True, False]
    assert outline(found).geom_type == "MultiPolygon"


def test_the_scale_is_the_references_and_decides_what_is_a_cluster() -> None:
    reference = np.array([[0.0, 0.0], [0.0, 4.0]])
    # no spread in throughput: its raw unit stays
    assert scale([reference, reference]) == pytest.approx([1, np.std([0, 4, 0, 4], ddof=1)])
    # two lines apart in delay; a coarse unit of delay lays them on each other
    along = np.linspace(0, 10, 40)
    two = np.concatenate([np.stack([along, np.full(40, y)], axis=1) for y in (0.0, 40.0)])
    between = np.array([[2.0, 20.0]])
    assert not region([two], np.array([1.0, 1.0])).holds(between)[0]
    assert region([two], np.array([1.0, 1e3])).holds(between)[0]


def test_the_trim_is_within_each_cluster() -> None:
    cluster = np.concatenate([box(0, 0, 1), [[0.0, 1.4]]])
    found = region([np.concatenate([cluster, cluster + 50])], UNIT)
    assert found.trials[0].clusters == 2
    assert not found.holds(np.array([[0.0, 1.4], [50.0, 51.4]])).any()


def test_half_of_the_trials_make_the_region_by_hand() -> None:
    # boxes about (0,0), (0,0), (1,0), (9,9): at least two of four hold what the first two do, and
    # no two hold anything else
    found = region([box(0, 0), box(0, 0), box(1, 0), box(9, 9)], UNIT)
    probes = np.array([[-0.9, 0.0], [0.5, 0.0], [1.5, 0.0], [9.0, 9.0]])
    assert found.holds(probes).tolist() == [True, True, False, False]
    # at least half of three is two
    three = region([box(0, 0), box(1, 0), box(9, 9)], UNIT)
    assert three.holds(probes).tolist() == [False, True, False, False]
    drawn = outline(three)
    assert drawn.bounds == pytest.approx((0, -1, 1, 1), abs=1e-5)
    assert drawn.area < 2


def test_trials_that_nowhere_meet_have_no_region() -> None:
    found = region([box(0, 0), box(10, 0), box(20, 0)], UNIT)
    assert len(found.kept) == 0
    assert outline(found).is_empty
    assert np.isnan(share(found, found))
    assert np.isnan(Arms(found, found).conformance(np.ones((1, 3)), np.ones((1, 3)))[0])


def test_conformance_by_hand() -> None:
    test, reference = region([box(1, 0)], UNIT), region([box(0, 0)], UNIT)
    # what lies in the other's box, of what lies in the own
    inside = [
        int(np.sum(one.holds(one.points) & other.holds(one.points)))
        for one, other in ((test, reference), (reference, test))
    ]
    assert share(test, reference) == sum(inside) / (len(test.kept) + len(reference.kept))
    assert share(region([box(10, 0)], UNIT), reference) == 0
    assert 0 < share(test, reference) < 1


@FEW
@given(st.lists(POINTS, min_size=1, max_size=4))
def test_a_region_conforms_to_itself(trials: list[np.ndarray]) -> None:
    found = region(trials, scale(trials))
    if len(found.kept):
        assert share(found, found) == 1


@FEW
@given(POINTS)
def test_one_trial_always_has_a_region(points: np.ndarray) -> None:
    found = region([points], scale([points]))
    # each of at most five clusters rounds its 95 % down
    assert len(found.kept) > 0.95 * len(points) - 5
    assert share(found, found) == 1


@FEW
@given(st.lists(POINTS, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_order_of_points_and_trials_does_not_matter(trials: list[np.ndarray], random: object) -> None:
    reference = region([box(8, 8, 12)], UNIT)
    order = [list(range(len(points))) for points in trials]
    for one in order:
        random.shuffle(one)  # type: ignore[attr-defined]
    shuffled = [points[one] for points, one in zip(trials, order, strict=True)][::-1]
    unit = np.array([2.0, 3.0])
    first, second = region(trials, unit), region(shuffled, unit)
    assert len(first.kept) == len(second.kept)
    assert sorted(map(tuple, first.kept)) == sorted(map(tuple, second.kept))
    if len(first.kept):
        assert share(first, reference) == share(second, reference)


@FEW
@given(st.lists(POINTS, min_size=1, max_size=5))
def test_what_is_drawn_is_what_is_counted(trials: list[np.ndarray]) -> None:
    found = region(trials, scale(trials))
    drawn = outline(found)
    probes = np.random.default_rng(3).uniform(0, 20, size=(200, 2))
    clear = np.array(
        [min(trial.area.boundary.distance(shapely.Point(one)) for trial in found.trials) for one in probes]
    )
    probes = probes[clear > 1e-5]
    assert shapely.contains_xy(drawn, probes[:, 0], probes[:, 1]).tolist() == found.holds(probes).tolist()


def test_weights_choose_trials() -> None:
    test = [box(0.3, 0), box(0.2, 0.1), box(5, 5)]
    reference = [box(0, 0), box(0.1, 0), box(-4, 0), box(0, 0.2)]
    arms = Arms(region(test, UNIT), region(reference, UNIT))
    choices = [([1, 1, 1], [1, 1, 1, 1]), ([1, 0, 0], [0, 1, 0, 1]), ([0, 1, 2], [0, 0, 1, 1])]
    weights = [np.array(side, dtype=np.float64) for side in zip(*choices, strict=True)]
    # a trial of weight 2 is that trial twice
    expected = [
        share(
            *(
                region([one for one, times in zip(arm, side, strict=True) for _ in range(times)], UNIT)
                for arm, side in zip((test, reference), sides, strict=True)
            )
        )
        for sides in choices
    ]
    assert arms.conformance(weights[0], weights[1]).tolist() == pytest.approx(expected)
    nobody = arms.conformance(np.zeros((1, 3)), np.ones((1, 4)))
    assert np.isnan(nobody).all()


def test_bad_points_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one trial"):
        region([], UNIT)
    with pytest.raises(ValueError, match="shape"):
        region([np.zeros((0, 2))], UNIT)
    with pytest.raises(ValueError, match="finite"):
        region([np.array([[np.nan, 1.0]])], UNIT)
