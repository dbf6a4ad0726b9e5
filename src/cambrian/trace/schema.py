"""The transport trace's columns: one schema for kernel TCP and every stack that exports its state."""

from __future__ import annotations

from typing import Any

import polars as pl

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


def empty() -> pl.DataFrame:
    """A transport trace without rows."""
    return pl.DataFrame(schema=TRANSPORT)
