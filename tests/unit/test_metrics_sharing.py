"""Loss, utilisation, fairness, theory."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.metrics.fairness import jain, pair_ratio, shares
from cambrian.metrics.loss import loss
from cambrian.metrics.theory import (
    cubic_average_window_segments,
    cubic_window_segments,
    reno_window_segments,
    window_rate_mbps,
)
from cambrian.metrics.utilisation import busy, capacity_bits, utilisation
from tests.unit.metrics_frames import bottleneck, frame, steady

MS = 1_000_000
AMOUNTS = st.lists(st.floats(0, 1e6), min_size=1, max_size=20)


def test_loss_is_split_and_belongs_to_its_flow() -> None:
    packets = frame(
        [
            (0, 0, 1, 100, "departed"),
            (0, 1, None, 100, "dropped"),
            (1, 2, 3, 100, "departed"),
            (1, 3, None, 100, "queued"),
            (1, 4, 5, 100, "departed"),
        ]
    )
    result = loss(packets, link_packets=[4, 5], random_loss_packets=[2, 1])
    zero, one, total = result.rows(named=True)
    assert (zero["random_loss_packets"], zero["queue_loss_packets"]) == (2, 1)
    assert (one["random_loss_packets"], one["queue_loss_packets"]) == (1, 0)
    assert (zero["random_loss_ratio"], zero["queue_loss_ratio"], zero["loss_ratio"]) == (0.5, 0.5, 0.75)
    assert (zero["unaccounted_packets"], one["unaccounted_packets"]) == (0, 1)
    assert total["flow"] is None
    assert (total["loss_ratio"], total["bottleneck_packets"]) == (4 / 9, 5)


def test_loss_of_nothing_is_null() -> None:
    row = loss(frame([]), [0], [0]).row(0, named=True)
    assert row["random_loss_ratio"] is None
    assert row["queue_loss_ratio"] is None


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2_000), st.integers(60, 1514)), max_size=60),
    st.lists(st.integers(0, 50), min_size=3, max_size=3),
)
def test_loss_sums(offered: list[tuple[int, int, int]], random: list[int]) -> None:
    packets = bottleneck(sorted(offered, key=lambda p: p[1]), 1, 4000, 1514)
    link = [random[f] + sum(flow == f for flow, _, _ in offered) for f in range(3)]
    result = loss(packets, link, random)
    for row in result.rows(named=True):
        ends = row["queue_loss_packets"] + row["departed_packets"] + row["queued_packets"]
        assert row["bottleneck_packets"] == ends
        assert row["link_packets"] == row["random_loss_packets"] + ends
        assert row["unaccounted_packets"] == 0
    parts, total = result[:3], result.row(3, named=True)
    assert all(parts[name].sum() == total[name] for name in result.columns if name.endswith("_packets"))


def test_loss_refuses_contradictions() -> None:
    with pytest.raises(ValueError, match="flow 1"):
        loss(frame([]), [5, 5], [0, 6])
    with pytest.raises(ValueError, match="one per flow"):
        loss(frame([]), [5, 5], [0])
    with pytest.raises(ValueError, match="flow 3"):
        loss(frame(steady(3, 1, MS)), [5, 5], [0, 0])


def test_utilisation_against_a_rate_that_changes() -> None:
    packets = frame(steady(0, 10, MS, size=1000))  # 80 000 bits in 10 ms
    bits = capacity_bits([(0, 8.0), (5 * MS, 24.0)], 0, 10 * MS)
    assert bits == pytest.approx(8e6 * 5e-3 + 24e6 * 5e-3)
    assert utilisation(packets, bits, 0, 10 * MS) == pytest.approx(0.5)
    assert capacity_bits([(0, 8.0), (5 * MS, 24.0)], 6 * MS, 7 * MS) == pytest.approx(24e3)
    with pytest.raises(ValueError, match="first at or before"):
        capacity_bits([(5, 8.0)], 0, 10)


@pytest.mark.parametrize("burst", [1514, 1600, 5000])
def test_busy_rate_is_exact_in_spite_of_bursts_and_pauses(burst: int) -> None:
    # Four busy periods with pauses in which the bucket fills up again; 8 ns a byte = 1000 Mbps.
    offered = [(0, period * MS, 1514) for period in range(4) for _ in range(40)]
    packets = bottleneck(offered, byte_ns=8, limit_bytes=10**6, burst_bytes=burst)
    measured, ignoring = busy(packets, burst), busy(packets, 0)
    assert measured is not None
    assert ignoring is not None
    assert measured.rate_mbps == pytest.approx(1000.0, rel=1e-12)
    assert measured.runs == 3  # the last one is still queued
    # Ignoring the bucket sees the link faster than it is.
    assert (ignoring.rate_mbps > 1000.5) == (burst > 1514)


def test_busy_rate_of_an_idle_link_is_unknown() -> None:
    assert busy(frame(steady(0, 50, MS)), 1600) is None
    assert busy(frame([]), 1600) is None


def test_jain_by_hand() -> None:
    assert jain([1, 1, 1, 1]) == 1
    assert jain([4, 0, 0, 0]) == 0.25
    assert jain([1, 3]) == pytest.approx(16 / (2 * 10))
    assert math.isnan(jain([0, 0]))
    with pytest.raises(ValueError, match="not negative"):
        jain([1, -1])


@given(AMOUNTS)
def test_jain_and_shares_stay_in_range(values: list[float]) -> None:
    index = jain(values)
    if max(values) == 0:
        assert math.isnan(index)
        return
    assert 1 / len(values) - 1e-12 <= index <= 1 + 1e-12
    assert index == pytest.approx(jain(values[::-1]))
    assert index == pytest.approx(jain([7 * v for v in values]))
    assert shares(values).sum() == pytest.approx(1)


def test_pair_ratio_names_the_first() -> None:
    assert pair_ratio(15, 5) == 0.75
    assert pair_ratio(5, 15) == 0.25


def test_reno_follows_from_its_sawtooth() -> None:
    # From W/2 to W in W/2 rounds: one loss in 3/8·W² segments, a mean of 3/4·W.
    peak = 80
    loss_ratio = 1 / (3 / 8 * peak**2)
    assert reno_window_segments(loss_ratio) == pytest.approx(3 / 4 * peak)
    assert reno_window_segments(loss_ratio, 2) == pytest.approx(3 / 4 * peak / math.sqrt(2))


def test_cubic_follows_from_its_curve() -> None:
    # W(t) = C·(t−K)³ + peak from t = 0 to K, with K = ∛(peak·(1−β)/C): integrated numerically.
    c, beta, peak, rtt_s, steps = 0.4, 0.7, 500.0, 0.1, 100_000
    k = (peak * (1 - beta) / c) ** (1 / 3)
    mean = sum(c * ((i + 0.5) * k / steps - k) ** 3 + peak for i in range(steps)) / steps
    segments_per_loss = mean * k / rtt_s
    assert cubic_window_segments(1 / segments_per_loss, rtt_s) == pytest.approx(mean, rel=1e-6)


def test_cubic_is_never_below_reno() -> None:
    assert cubic_average_window_segments(0.01, 0.001) == reno_window_segments(0.01)
    assert cubic_average_window_segments(1e-6, 0.2) == cubic_window_segments(1e-6, 0.2)
    assert cubic_window_segments(1e-6, 0.2) > reno_window_segments(1e-6)


def test_window_to_rate() -> None:
    assert window_rate_mbps(100, 1250, 0.05) == pytest.approx(20.0)
    with pytest.raises(ValueError, match="loss_ratio"):
        reno_window_segments(0)
