"""The transport trace's columns: one schema for kernel TCP and every stack that exports its state."""

from __future__ import annotations

from typing import Any

import polars as pl

from cambrian.trace.packets import TraceError

#: ``transport``: one row per controller event; null if the source does not give the value
TRANSPORT: dict[str, Any] = {
    "flow": pl.UInt16,
    "time_ns": pl.Int64,
    "event": pl.String,
    "cwnd_bytes": pl.Int64,
    "ssthresh_bytes": pl.Int64,
    "in_flight_bytes": pl.Int64,
    "srtt_us": pl.Int64,
    "pacing_bps": pl.Int64,
    "state": pl.String,
}
#: what a controller says of itself
NUMBERS = ("cwnd_bytes", "ssthresh_bytes", "in_flight_bytes", "srtt_us", "pacing_bps")
_LARGEST = 10**15
#: an hour
_LONGEST_SRTT_US = 3_600_000_000
#: longest name of an event or a state
_MOST_CHARACTERS = 100


def empty() -> pl.DataFrame:
    """A transport trace without rows."""
    return pl.DataFrame(schema=TRANSPORT)


def checked(frame: pl.DataFrame, what: str) -> pl.DataFrame:
    """What an endpoint wrote, with null for numbers that no controller can have.

    These are negative numbers, those above 10^15, and round-trip times above an hour.

    Raises:
        TraceError: the name of an event or a state is long or has control characters; pages and terminals
            show them.
    """
    for column in ("event", "state"):
        names = frame.get_column(column).unique().drop_nulls()
        if (names.str.len_chars() > _MOST_CHARACTERS).any() or names.str.contains(r"\p{C}").any():
            raise TraceError(f"{what}: a name of {column} has control characters or is too long")
    numbers = pl.col(NUMBERS)
    frame = frame.with_columns(pl.when(numbers.is_between(0, _LARGEST)).then(numbers))
    return frame.with_columns(pl.when(pl.col("srtt_us") <= _LONGEST_SRTT_US).then(pl.col("srtt_us")))
