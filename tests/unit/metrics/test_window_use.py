"""Windows over time, by hand."""

from __future__ import annotations

import polars as pl
import pytest

from cambrian.metrics.window_use import window_use
from cambrian.trace.schema import TRANSPORT

S = 1_000_000_000


def transport(rows: list[tuple[int, float, int | None]]) -> pl.DataFrame:
    """(flow, seconds, window) as a transport trace."""
    named = [{"flow": flow, "time_ns": round(at * S), "cwnd_bytes": cwnd} for flow, at, cwnd in rows]
    return pl.DataFrame(named, schema={name: TRANSPORT[name] for name in ("flow", "time_ns", "cwnd_bytes")})


def test_a_window_holds_until_the_next() -> None:
    """1000 for [1, 2), 3000 for [2, 5): mean 2500; the rise of 2000 in 4 s is 500 a second."""
    used = window_use(transport([(0, 0, 1000), (0, 2, 3000)]), 0, 1 * S, 5 * S)
    assert used is not None
    assert (used.mean_bytes, used.most_bytes, used.growth_bytes_per_s) == (2500, 3000, 500)


def test_cuts_take_nothing_from_growth() -> None:
    used = window_use(transport([(0, 0, 100), (0, 1, 300), (0, 2, 100), (0, 3, 200)]), 0, 0, 4 * S)
    assert used is not None
    assert used.growth_bytes_per_s == pytest.approx(300 / 4)


def test_the_time_before_the_first_row_does_not_count() -> None:
    used = window_use(transport([(0, 3, 1000), (0, 4, 2000)]), 0, 0, 5 * S)
    assert used is not None
    assert used.mean_bytes == 1500


def test_of_one_instant_the_last_counts() -> None:
    used = window_use(transport([(0, 0, 1000), (0, 1, 9000), (0, 1, 1000)]), 0, 0, 2 * S)
    assert used is not None
    assert (used.mean_bytes, used.most_bytes, used.growth_bytes_per_s) == (1000, 1000, 0)


def test_what_a_larger_window_before_the_interval_was_is_not_seen() -> None:
    used = window_use(transport([(0, 0, 9000), (0, 1, 1000), (0, 6, 7000)]), 0, 2 * S, 5 * S)
    assert used is not None
    assert (used.mean_bytes, used.most_bytes) == (1000, 1000)


@pytest.mark.parametrize(
    "rows",
    [[], [(1, 0, 1000)], [(0, 0, None)], [(0, 9, 1000)]],
    ids=["no row", "another flow", "no window", "too late"],
)
def test_a_trace_without_windows_says_nothing(rows: list[tuple[int, float, int | None]]) -> None:
    assert window_use(transport(rows), 0, 0, 5 * S) is None
