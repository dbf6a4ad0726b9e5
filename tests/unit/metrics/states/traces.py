"""Transport traces with known states, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from cambrian.trace.schema import TRANSPORT

MS = 1_000_000
S = 1_000_000_000
MSS = 1448


def trace(rows: Sequence[dict[str, Any]], flow: int = 0) -> pl.DataFrame:
    """Rows as ``transport``; what a row does not name is null."""
    empty: dict[str, Any] = dict.fromkeys(TRANSPORT)
    return pl.DataFrame([empty | {"flow": flow, "event": "ack"} | row for row in rows], schema=TRANSPORT)


def words(*said: tuple[int, str | None]) -> pl.DataFrame:
    """A trace of (milliseconds, the stack's word)."""
    return trace([{"time_ns": at * MS, "state": word, "in_flight_bytes": MSS} for at, word in said])


def windows(
    points: Sequence[tuple[float, ...]], *, srtt_ms: float = 50, lost: Sequence[float] = ()
) -> pl.DataFrame:
    """A trace without states of (milliseconds, window, flight), in packets, with losses at ``lost`` ms.

    Without a flight it is 95 % of the window.
    """
    return trace(
        [
            {
                "time_ns": round(at * MS),
                "cwnd_bytes": round(window * MSS),
                "in_flight_bytes": round((flight[0] if flight else 0.95 * window) * MSS),
                "srtt_us": round(srtt_ms * 1000),
                "event": "loss" if at in lost else "ack",
            }
            for at, window, *flight in points
        ]
    )
