"""A stack's own qlog → ``transport``: its recovery metrics and congestion states.

Reads what draft-ietf-quic-qlog-main-schema describes: one JSON object with ``traces``, or records
one a line (``.sqlog``, with or without the record separator 0x1E of RFC 7464), in any of the three
time formats. Of the events only ``recovery:*`` matter here. Units are the drafts': times in
milliseconds, RTT in milliseconds, windows in bytes, pacing rate in bit/s.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from cambrian.trace import schema

_SEPARATOR = "\x1e"
_NS_PER_MS = 1_000_000
#: a reference before this (2001) is no wall clock: stacks also write their monotonic one
_MONOTONIC_BEFORE_NS = 10**18
#: qlog's field → ours, and what one of theirs is in ours
_METRICS = {
    "congestion_window": ("cwnd_bytes", 1.0),
    "ssthresh": ("ssthresh_bytes", 1.0),
    "bytes_in_flight": ("in_flight_bytes", 1.0),
    "smoothed_rtt": ("srtt_us", 1000.0),
    "pacing_rate": ("pacing_bps", 1.0),
}
#: qlog's events (without "recovery:", whose name newer drafts spell differently) → ours
_EVENTS = {
    "metrics_updated": "ack",
    "recovery_metrics_updated": "ack",
    "congestion_state_updated": "sample",
    "packet_lost": "loss",
}
#: a threshold that was never set
_INFINITE = 2**62


def read(
    path: Path,
    flow: int,
    *,
    zero_ns: int,
    end_ns: int,
    realtime_minus_monotonic_ns: int,
    began_ns: int,
) -> pl.DataFrame:
    """One connection's transport trace, between the trial's zero and its end.

    ``began_ns`` (after zero) is when the connection began at its server: the origin of a file
    without one. A metric keeps its value in events that lack it. A last line that was cut short by
    an endpoint's end is left out. ``path`` may also be a file of something else: it gives no rows.
    """
    rows: list[dict[str, Any]] = []
    now: dict[str, Any] = {}
    for reference_ns, passed_ns, name, data in _events(path):
        if reference_ns is None:
            origin_ns = zero_ns + began_ns
        else:
            wall = reference_ns + passed_ns >= _MONOTONIC_BEFORE_NS
            origin_ns = reference_ns + (0 if wall else realtime_minus_monotonic_ns)
        kind = _EVENTS.get(name.rpartition(":")[2])
        if kind is None:
            continue
        for theirs, (ours, factor) in _METRICS.items():
            value = data.get(theirs)
            if isinstance(value, int | float) and value < _INFINITE:
                now[ours] = round(value * factor)
        if "new" in data and kind == "sample":
            now["state"] = str(data["new"]).lower()
        rows.append({"flow": flow, "time_ns": origin_ns + passed_ns - zero_ns, "event": kind, **now})
    if not rows:
        return schema.empty()
    frame = pl.DataFrame(rows, schema=schema.TRANSPORT)
    return frame.filter(pl.col("time_ns").is_between(0, end_ns, closed="left"))


def _events(path: Path) -> Iterator[tuple[int | None, int, str, dict[str, Any]]]:
    """Each event: the file's origin and the time since then, in nanoseconds; its name and data."""
    common: dict[str, Any] = {}
    passed_ms = 0.0
    for record in _records(path):
        if "trace" in record or "qlog_version" in record:
            common = record.get("trace", {}).get("common_fields", common)
            continue
        time = record.get("time")
        if not isinstance(time, int | float):
            continue
        passed_ms = passed_ms + time if common.get("time_format") == "delta" else time
        yield (
            _reference_ns(common),
            round(passed_ms * _NS_PER_MS),
            str(record.get("name", "")),
            dict(record.get("data") or {}),
        )


def _reference_ns(common: dict[str, Any]) -> int | None:
    """The origin of the file's times; None without one (ngtcp2 writes 0)."""
    if common.get("time_format") == "absolute":
        return 0
    reference = common.get("reference_time")
    if isinstance(reference, dict):
        # newer drafts: {"clock_type": …, "epoch": …, "wall_clock_time": …}
        reference = reference.get("wall_clock_time")
    if not isinstance(reference, int | float) or reference == 0:
        return None
    return round(reference * _NS_PER_MS)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    text = path.read_text(errors="replace")
    whole = _parsed(text)
    if whole is not None and "traces" in whole:
        for trace in whole["traces"]:
            yield {"trace": trace}
            yield from (event for event in trace.get("events", ()) if isinstance(event, dict))
        return
    for line in text.replace(_SEPARATOR, "").splitlines():
        record = _parsed(line)
        if record is not None:
            yield record


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
