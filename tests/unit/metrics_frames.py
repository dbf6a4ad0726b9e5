"""Packet frames for the metrics' tests, written by hand or by a small queue of our own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from cambrian.metrics.columns import PACKETS

Row = tuple[int, int, int | None, int, str]


def frame(rows: Iterable[Row], ce: Sequence[bool] | None = None) -> pl.DataFrame:
    """Rows (flow, arrival_ns, departure_ns, size_bytes, outcome), in order of arrival."""
    listed = list(rows)
    marks = list(ce) if ce is not None else [False] * len(listed)
    return pl.DataFrame(
        [(*row, mark) for row, mark in zip(listed, marks, strict=True)], schema=PACKETS, orient="row"
    )


def steady(
    flow: int,
    count: int,
    gap_ns: int,
    *,
    size: int = 1000,
    delay_ns: int = 0,
    first_ns: int = 0,
) -> list[Row]:
    """``count`` packets that leave ``gap_ns`` apart, each after ``delay_ns`` in the queue."""
    times = (first_ns + i * gap_ns for i in range(count))
    return [(flow, t - delay_ns, t, size, "departed") for t in times]


def in_order(*runs: list[Row]) -> pl.DataFrame:
    """Several flows' rows as one frame, in order of arrival."""
    return frame(sorted((row for run in runs for row in run), key=lambda row: row[1]))


def bottleneck(
    offered: Iterable[tuple[int, int, int]], byte_ns: int, limit_bytes: int, burst_bytes: int
) -> pl.DataFrame:
    """A token bucket with a drop-tail queue in bytes, one packet at a time.

    ``offered``: (flow, arrival_ns, size_bytes) in order; one byte of tokens every
    ``byte_ns``. A packet leaves when it is first and the bucket holds its size; one that
    leaves in the very instant of an arrival has left before it.
    """
    rows: list[list[Any]] = []
    waiting: list[int] = []
    #: when the bucket would have been empty, going back in time from its level
    empty_at = -burst_bytes * byte_ns
    last_departure = 0

    def drain(until: int) -> None:
        nonlocal empty_at, last_departure
        while waiting:
            row = rows[waiting[0]]
            earliest = max(row[1], last_departure)
            empty = max(empty_at, earliest - burst_bytes * byte_ns)
            leaves = max(earliest, empty + row[3] * byte_ns)
            if leaves > until:
                return
            empty_at = max(empty_at, leaves - burst_bytes * byte_ns) + row[3] * byte_ns
            row[2], row[4], last_departure = leaves, "departed", leaves
            waiting.pop(0)

    for flow, arrival, size in offered:
        drain(arrival)
        fits = sum(rows[i][3] for i in waiting) + size <= limit_bytes
        rows.append([flow, arrival, None, size, "queued" if fits else "dropped"])
        if fits:
            waiting.append(len(rows) - 1)
            drain(arrival)
    return frame([tuple(row) for row in rows])
