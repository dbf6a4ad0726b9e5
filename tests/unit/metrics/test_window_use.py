"""Windows over time, by hand."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest

from cambrian.metrics.window_use import is_unused_at, unused_share, window_use
from cambrian.trace.schema import TRANSPORT

S = 1_000_000_000


def transport(
    rows: Sequence[tuple[int, float, int | None]], srtts_us: Sequence[int | None] | None = None
) -> pl.DataFrame:
    """(flow, seconds, window) as a transport trace, with a smoothed round trip a row."""
    names = ("flow", "time_ns", "cwnd_bytes", "srtt_us")
    named = [
        {"flow": flow, "time_ns": round(at * S), "cwnd_bytes": cwnd, "srtt_us": srtt_us}
        for (flow, at, cwnd), srtt_us in zip(rows, srtts_us or [None] * len(rows), strict=True)
    ]
    return pl.DataFrame(named, schema={name: TRANSPORT[name] for name in names})


def test_a_window_holds_until_the_next() -> None:
    """1000 for [1, 2), 3000 for [2, 5): mean 2500; the rise of 2000 in 4 s is 500 a second."""
    used = window_use(transport([(0, 0, 1000), (0, 2, 3000)]), 0, 1 * S, 5 * S, 100)
    assert used is not None
    assert (used.mean_bytes, used.most_bytes, used.growth_bytes_per_s) == (2500, 3000, 500)


def test_large_windows_over_a_long_time_are_right() -> None:
    """25 MB, twice the BDP of 1 Gbps and 100 ms, for 600 s; and 10 GB of rises."""
    used = window_use(transport([(0, 0, 25_000_000)]), 0, 0, 600 * S, 1400)
    assert used is not None
    assert used.mean_bytes == pytest.approx(25e6)
    used = window_use(transport([(0, 0, 0), (0, 1, 10_000_000_000)]), 0, 0, 2 * S, 1400)
    assert used is not None
    assert (used.mean_bytes, used.growth_bytes_per_s) == pytest.approx((5e9, 5e9))


def test_cuts_take_nothing_from_growth() -> None:
    used = window_use(transport([(0, 0, 100), (0, 1, 300), (0, 2, 100), (0, 3, 200)]), 0, 0, 4 * S, 100)
    assert used is not None
    assert used.growth_bytes_per_s == pytest.approx(300 / 4)


def test_the_time_before_the_first_row_does_not_count() -> None:
    used = window_use(transport([(0, 3, 1000), (0, 4, 2000)]), 0, 0, 5 * S, 100)
    assert used is not None
    assert used.mean_bytes == 1500


def test_of_one_instant_the_last_counts() -> None:
    used = window_use(transport([(0, 0, 1000), (0, 1, 9000), (0, 1, 1000)]), 0, 0, 2 * S, 100)
    assert used is not None
    assert (used.mean_bytes, used.most_bytes, used.growth_bytes_per_s) == (1000, 1000, 0)


def test_what_a_larger_window_before_the_interval_was_is_not_seen() -> None:
    used = window_use(transport([(0, 0, 9000), (0, 1, 1000), (0, 6, 7000)]), 0, 2 * S, 5 * S, 100)
    assert used is not None
    assert (used.mean_bytes, used.most_bytes) == (1000, 1000)


def test_rises_are_of_whole_packets_and_a_jump_is_one() -> None:
    """From 1.5 packets: to 1.9 none, to 2.0 one, to 5.0 one, a cut, and to 3.1 one."""
    rows = [(0, at, window) for at, window in enumerate([150, 190, 200, 500, 250, 310])]
    used = window_use(transport(rows), 0, 0, 6 * S, 100)
    assert used is not None
    assert used.rises_per_s == pytest.approx(3 / 6)


def test_a_pacers_rate_is_the_mean_of_the_rates_while_both_are_known() -> None:
    """No round trip in [0, 1); 1000 bytes in 1 ms for 1 s, in the same for 1 s more, 3000 in 2 ms for 2 s."""
    rows = [(0, 0, 1000), (0, 1, 1000), (0, 2, 1000), (0, 3, 3000)]
    used = window_use(transport(rows, [None, 1000, None, 2000]), 0, 0, 5 * S, 100)
    assert used is not None
    assert used.rate_mbps == pytest.approx((8 + 8 + 2 * 12) / 4)
    silent = window_use(transport(rows), 0, 0, 5 * S, 100)
    assert silent is not None and silent.rate_mbps is None


@pytest.mark.parametrize(
    "rows",
    [[], [(1, 0, 1000)], [(0, 0, None)], [(0, 9, 1000)]],
    ids=["no row", "another flow", "no window", "too late"],
)
def test_a_trace_without_windows_says_nothing(rows: Sequence[tuple[int, float, int | None]]) -> None:
    assert window_use(transport(rows), 0, 0, 5 * S, 100) is None


def _used(*rows: tuple[int, int | None, int | None]) -> pl.DataFrame:
    """Rows of one flow: time in s, window and flight in packets of 1,000 bytes."""
    return pl.DataFrame(
        {
            "flow": [0] * len(rows),
            "time_ns": [time_s * 10**9 for time_s, _, _ in rows],
            "cwnd_bytes": [None if window is None else 1000 * window for _, window, _ in rows],
            "in_flight_bytes": [None if flight is None else 1000 * flight for _, _, flight in rows],
        },
        schema={"flow": pl.Int64, "time_ns": pl.Int64, "cwnd_bytes": pl.Int64, "in_flight_bytes": pl.Int64},
    )


def test_the_share_of_time_with_an_unused_window() -> None:
    rows = _used((0, 100, 79), (1, 100, 30), (4, 100, 99), (6, None, 5), (7, 4, 1), (9, 0, 0))
    # a window of 4 packets has no room for more than three
    assert unused_share(rows, 0, 0, 10 * 10**9, 1000) == pytest.approx(0.3)
    assert unused_share(rows, 0, 2 * 10**9, 10 * 10**9, 1000) == 0
    assert unused_share(rows, 1, 0, 10 * 10**9, 1000) is None
    assert unused_share(_used((0, 100, None)), 0, 0, 10**9, 1000) is None


def test_whether_the_window_is_unused_at_a_time() -> None:
    rows = _used((1, 100, 30), (4, 100, 99))
    assert not is_unused_at(rows, 0, 1000)
    assert is_unused_at(rows, 3 * 10**9, 1000)
    assert not is_unused_at(rows, 5 * 10**9, 1000)


@pytest.mark.parametrize(("most", "share"), [(63, 0.8), (64, 0.0)])
def test_a_window_that_grew_without_being_used_is_the_controllers_doing(most: int, share: float) -> None:
    """Three times the largest flight, and three packets, are allowed."""
    rows = _used((0, 20, 20), (1, 20, 20), (2, most, 10), (3, 40, 20))
    assert unused_share(rows, 0, 0, 10 * 10**9, 1000) == pytest.approx(share)
    assert unused_share(rows, 0, 3 * 10**9, 10 * 10**9, 1000) == 1


@pytest.mark.parametrize(("most", "share"), [(20, 0.7), (21, 0.0)])
def test_a_first_window_that_the_handshake_leaves_unused_has_not_grown(most: int, share: float) -> None:
    """A window of 10 packets, one of them in flight: the handshake explains up to 20."""
    rows = _used((0, 10, 1), (3, most, 1), (7, 20, 20))
    assert unused_share(rows, 0, 0, 10 * 10**9, 1000) == pytest.approx(share)
