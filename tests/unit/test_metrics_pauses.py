"""The longest time in which a flow carried nothing."""

from __future__ import annotations

import polars as pl
import pytest

from cambrian.metrics.pauses import longest_pause_ns


@pytest.mark.parametrize(
    ("flow", "interval", "longest"),
    [
        (0, (0, 101), 50),  # between two
        (0, (0, 200), 100),  # after the last
        (0, (15, 40), 25),  # none within
        (1, (0, 100), 90),  # before the first; the dropped one does not count
        (2, (0, 100), 100),  # nothing at all
    ],
)
def test_longest_pause(flow: int, interval: tuple[int, int], longest: int) -> None:
    packets = pl.DataFrame(
        {
            "flow": [0, 0, 0, 1, 1, 0, 2],
            "departure_ns": [10, 100, 60, 90, None, 30, 50],
            # the last two carry no data
            "size_bytes": [1514, 1514, 100, 1514, 1514, 99, 80],
        },
        schema={"flow": pl.UInt16, "departure_ns": pl.Int64, "size_bytes": pl.UInt16},
    )
    assert longest_pause_ns(packets, flow, *interval) == longest
