from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cambrian.metrics.conformance import compare, inside
from cambrian.metrics.envelope import TooFewSamples, from_points, imc22, imc22_samples, pooled
from tests.unit.metrics_frames import frame, in_order, steady

MS = 1_000_000

#: Points on a grid of quarters: sums and translations by quarters are exact in floating point.
GRID_POINTS = arrays(np.int64, st.tuples(st.integers(1, 40), st.just(2)), elements=st.integers(0, 80)).map(
    lambda numbers: numbers / 4
)


def loop_samples(
    packets: pl.DataFrame, flow: int, rtt_ms: float, duration_s: float
) -> list[tuple[int, float, float]]:
    """The method as prose tells it, packet by packet: the judge of the vectorised form."""
    window_ns = 10 * rtt_ms * MS
    left = packets.filter((pl.col("flow") == flow) & (pl.col("outcome") == "departed")).sort("departure_ns")
    run: list[tuple[int, int, float]] = []
    points: list[tuple[int, float, float]] = []
    due: float | None = None
    for row in left.rows(named=True):
        now = row["departure_ns"]
        if now >= 0.95 * duration_s * 1e9:
            break
        run.append((now, row["size_bytes"], (now - row["arrival_ns"]) / MS))
        if now - run[0][0] > window_ns:
            due = now if due is None else due
            if now >= due:
                mbps = sum(size for _, size, _ in run) * 8000 / (now - run[0][0])
                points.append((now, mbps, sum(delay for *_, delay in run) / len(run)))
                due += window_ns
            run.pop(0)
    return points


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5), st.integers(60, 1514)), max_size=200),
    st.sampled_from([0.1, 0.3, 0.7]),
)
def test_samples_agree_with_the_method_told_packet_by_packet(
    steps: list[tuple[int, int, int]], rtt_ms: float
) -> None:
    rows, now = [], 0
    for gap, delay, size in steps:
        now += gap**3 * MS // 10  # silences of many windows, and bursts in one instant
        rows.append((0, now - delay * MS, now, size, "departed"))
    packets = frame(sorted(rows, key=lambda row: row[1]))
    expected = loop_samples(packets, 0, rtt_ms, duration_s=2.0)
    result = imc22_samples(packets, 0, rtt_ms, duration_s=2.0)
    assert result["time_ns"].to_list() == [time for time, _, _ in expected]
    assert result["throughput_mbps"].to_list() == pytest.approx([mbps for _, mbps, _ in expected])
    assert result["delay_ms"].to_list() == pytest.approx([delay for *_, delay in expected])


def test_a_steady_flow_by_hand() -> None:
    # A frame of 1000 bytes each ms after 3 ms of queue; RTT 1 ms, so windows of 10 ms.
    packets = frame(steady(0, 100, MS, delay_ns=3 * MS, first_ns=3 * MS))
    samples = imc22_samples(packets, 0, rtt_ms=1.0, duration_s=0.1)
    # The first window longer than 10 ms is 3…14 ms: 12 frames in 11 ms. t < 95 ms is kept.
    assert samples["time_ns"].to_list() == [t * MS for t in range(14, 95, 10)]
    assert samples["throughput_mbps"].to_list() == pytest.approx([12 * 8 / 11] * 9)
    assert samples["delay_ms"].to_list() == pytest.approx([3.0] * 9)


def test_the_window_keeps_a_bursts_length_in_packets() -> None:
    # The named quirk: each value lets only one packet leave. A burst fills a 2 ms window with
    # 21 frames; at a frame each ms later, the window is still 22 frames, over 21 ms.
    packets = frame([*steady(0, 100, MS // 10), *steady(0, 60, MS, first_ns=20 * MS)])
    samples = imc22_samples(packets, 0, rtt_ms=0.2, duration_s=1.0)
    late = samples.filter(pl.col("time_ns") > 45 * MS)
    assert late["throughput_mbps"].to_list() == pytest.approx([22 * 8 / 21] * late.height)
    assert late.height > 10


def test_each_flow_has_its_own_envelope() -> None:
    packets = in_order(
        steady(0, 400, MS, size=1250, delay_ns=2 * MS), steady(1, 200, 2 * MS, size=500, delay_ns=7 * MS)
    )
    zero, one = (imc22(packets, flow, rtt_ms=2.0, duration_s=0.4) for flow in (0, 1))
    assert zero.mean == pytest.approx([10 * 22 / 21, 2.0])
    assert one.mean == pytest.approx([2 * 12 / 11, 7.0])
    assert compare(one, zero).delta_delay_ms == pytest.approx(5.0)
    assert compare(one, zero).delta_throughput_mbps < 0


def test_a_flow_without_a_window_is_refused() -> None:
    packets = frame(steady(0, 5, MS))
    with pytest.raises(TooFewSamples, match="longer duration"):
        imc22(packets, 0, rtt_ms=50, duration_s=60)
    with pytest.raises(TooFewSamples):
        imc22(packets, 1, rtt_ms=50, duration_s=60)
    with pytest.raises(ValueError, match="positive"):
        imc22(packets, 0, rtt_ms=0, duration_s=60)


def test_trim_leaves_out_the_farthest_and_the_mean_keeps_it() -> None:
    near = [[x, y] for x in (9.0, 10.0) for y in (1.0, 2.0)] * 4 + [[9.5, 1.5]] * 3
    envelope = from_points(np.array([*near, [9.5, 81.5]]))
    assert len(envelope.kept) == 19  # floor(0.95 × 20)
    assert envelope.mean == pytest.approx([9.5, 1.5 + 80 / 20])
    assert shapely.equals(envelope.hull, shapely.box(9, 1, 10, 2))
    assert sorted(map(tuple, envelope.outline)) == [(9, 1), (9, 2), (10, 1), (10, 2)]


def test_degenerate_hulls_are_segments_and_points() -> None:
    one = from_points(np.array([[5.0, 5.0]]))
    line = from_points(np.array([[0.0, 0.0], [10.0, 10.0]] * 2 + [[5.0, 5.0]] * 2))
    assert (one.hull.geom_type, line.hull.geom_type) == ("Point", "LineString")
    assert len(one.kept) == 1
    # the point lies on the segment; of the segment's 5 kept points, those at (5, 5) lie on the point
    both = compare(one, line)
    assert (both.test_inside, both.reference_inside, both.reference_points) == (1, 2, 5)
    assert np.isnan(compare(line, one).deviation_sd)


def test_the_boundary_is_inside() -> None:
    square = shapely.box(0, 0, 1, 1)
    points = np.array([[0, 0], [0.5, 0], [1, 0.3], [0.5, 0.5], [1.001, 0.5]])
    assert inside(points, square).tolist() == [True, True, True, True, False]


def square(x: float, y: float) -> np.ndarray:
    """4 corners and 1 centre, 20 times: trimming 5 % leaves all five places."""
    corners = [[x - 1, y - 1], [x - 1, y + 1], [x + 1, y - 1], [x + 1, y + 1], [x, y]]
    return np.array(corners * 20, dtype=float)


def test_conformance_and_deviation_by_hand() -> None:
    # Shifted by (1, 1): each square's centre and one corner lie in the other one. The five
    # trimmed are the last corners, [x+1, y+1] first among equals being kept: 95 of 100.
    test, reference = from_points(square(1, 1)), from_points(square(0, 0))
    result = compare(test, reference)
    assert result.test_points == result.reference_points == 95
    expected_test = int(np.all(np.abs(test.kept) <= 1, axis=1).sum())
    expected_reference = int(np.all(np.abs(reference.kept - 1) <= 1, axis=1).sum())
    assert (result.test_inside, result.reference_inside) == (expected_test, expected_reference)
    assert result.conformance == (expected_test + expected_reference) / 190
    assert 0.3 < result.conformance < 0.5
    assert result.deviation == pytest.approx(2**0.5)
    # 80 of 100 points are 1 away from the mean on each axis
    assert result.deviation_sd == pytest.approx((2 / (80 / 99)) ** 0.5)
    assert (result.delta_throughput_mbps, result.delta_delay_ms) == pytest.approx((1, 1))


def test_apart_is_zero() -> None:
    assert compare(from_points(square(10, 0)), from_points(square(0, 0))).conformance == 0


@given(GRID_POINTS)
def test_conformance_with_itself_is_one(points: np.ndarray) -> None:
    envelope = from_points(points)
    result = compare(envelope, envelope)
    assert (result.conformance, result.deviation) == (1, 0)


@given(arrays(np.int64, st.tuples(st.integers(1, 40), st.just(2)), elements=st.integers(0, 2 * 10**12)))
def test_conformance_with_itself_is_one_off_the_grid(points: np.ndarray) -> None:
    envelope = from_points(points / 1e9 * (1 / 3))
    assert compare(envelope, envelope).conformance == 1


@given(GRID_POINTS, GRID_POINTS)
def test_conformance_is_symmetric_and_a_share(one: np.ndarray, two: np.ndarray) -> None:
    there, back = compare(from_points(one), from_points(two)), compare(from_points(two), from_points(one))
    assert 0 <= there.conformance <= 1
    assert there.conformance == back.conformance
    assert there.deviation == back.deviation


@given(GRID_POINTS, GRID_POINTS, st.randoms(use_true_random=False))
def test_order_of_points_does_not_matter_without_ties(
    one: np.ndarray, two: np.ndarray, random: object
) -> None:
    # Equal distances are broken by order, so compare the hulls of distinct distances only.
    shuffled = list(range(len(one)))
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = from_points(one), from_points(one[shuffled])
    distances = np.square(one - first.mean).sum(axis=1)
    cut = len(first.kept)
    ranked = np.sort(distances)
    if cut < len(ranked) and np.isclose(ranked[cut - 1], ranked[cut]):
        return
    reference = from_points(two)
    assert compare(first, reference).conformance == compare(second, reference).conformance


@given(GRID_POINTS, GRID_POINTS, st.integers(-40, 40), st.integers(-40, 40))
def test_moving_both_envelopes_together_changes_nothing(
    one: np.ndarray, two: np.ndarray, right: int, up: int
) -> None:
    shift = np.array([right, up]) / 4
    before = compare(from_points(one), from_points(two))
    ranks_are_clear = all(_clear_cut(points) for points in (one, two))
    after = compare(from_points(one + shift), from_points(two + shift))
    assert after.deviation == pytest.approx(before.deviation, abs=1e-9)
    if ranks_are_clear:
        assert after.conformance == before.conformance


def _clear_cut(points: np.ndarray) -> bool:
    """Whether rounding of the mean cannot change which points the trim leaves out."""
    distances = np.sort(np.square(points - points.mean(axis=0)).sum(axis=1))
    cut = len(from_points(points).kept)
    return cut == len(points) or not np.isclose(distances[cut - 1], distances[cut])


def test_pooled_joins_trials_and_says_so() -> None:
    trials = [from_points(square(0, 0)), from_points(square(1, 0))]
    envelope = pooled(trials)
    assert (envelope.method, envelope.trials, len(envelope.points)) == ("pooled", 2, 200)
    assert envelope.mean == pytest.approx([0.5, 0])
    assert trials[0].method == "imc22"
    with pytest.raises(ValueError, match="at least one"):
        pooled([])
