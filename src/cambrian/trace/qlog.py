"""A stack's own qlog → ``transport``: its recovery metrics and congestion states.

Reads all drafts of the format that stacks write: one JSON object with ``traces``, whole or cut short by the
end of its program, or records one a line (``.sqlog``, with or without the record separator 0x1E of RFC 7464),
in any of the time formats. In drafts 00 and 01 an event is a list whose meaning ``event_fields`` gives, times
and RTTs are in ``time_units``, and numbers may be text. Of the events only those on recovery matter here.
Windows are in bytes, the pacing rate in bit/s. Sources: draft-ietf-quic-qlog-main-schema (all versions),
draft-marx-qlog-main-schema-00 and -01.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from cambrian.trace import schema

_SEPARATOR = "\x1e"
_NS_PER_MS = 1_000_000
_NS_PER_S = 1_000_000_000
#: what stands between the events of a list
_BETWEEN = re.compile(r"[\s,]*")
#: a reference before this (2001) is no wall clock: stacks also write their monotonic one
_MONOTONIC_BEFORE_NS = 10**18
#: qlog's field → ours, and one of theirs in ours; of times in milliseconds
_METRICS = {
    "congestion_window": ("cwnd_bytes", 1.0),
    # picoquic
    "cwnd": ("cwnd_bytes", 1.0),
    "ssthresh": ("ssthresh_bytes", 1.0),
    "bytes_in_flight": ("in_flight_bytes", 1.0),
    "smoothed_rtt": ("srtt_us", 1000.0),
    "pacing_rate": ("pacing_bps", 1.0),
}
#: qlog's events (without "recovery:", whose name newer drafts spell differently) → ours
_EVENTS = {
    "metrics_updated": "ack",
    "metric_update": "ack",
    "recovery_metrics_updated": "ack",
    "congestion_state_updated": "sample",
    "packet_lost": "loss",
}
#: ``time_units`` of drafts 00 and 01 → milliseconds
_UNITS_MS = {"ms": 1.0, "us": 1e-3, "s": 1e3}
#: formats of times since the event before, of older and of newer drafts
_SINCE_PREVIOUS = ("delta", "relative_to_previous_event")
#: names of a time in ``event_fields`` → its format
_TIMES = {"time": "absolute", "relative_time": "relative", "delta_time": "delta"}
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

    Raises:
        TraceError: the name of a state is no plain text.
    """
    rows: list[dict[str, Any]] = []
    now: dict[str, Any] = {}
    for reference_ns, passed_ns, name, data, unit_ms in _events(path):
        if passed_ns >= _MONOTONIC_BEFORE_NS:
            # since 1970, the epoch of newer drafts where a file names no other
            origin_ns = 0
        elif reference_ns is None:
            origin_ns = zero_ns + began_ns
        else:
            wall = reference_ns + passed_ns >= _MONOTONIC_BEFORE_NS
            origin_ns = reference_ns + (0 if wall else realtime_minus_monotonic_ns)
        kind = _EVENTS.get(name.rpartition(":")[2])
        if kind is None:
            continue
        for theirs, (ours, factor) in _METRICS.items():
            value = _number(data.get(theirs))
            if value is not None and value < _INFINITE:
                now[ours] = round(value * factor * (unit_ms if ours == "srtt_us" else 1))
        if "new" in data and kind == "sample":
            now["state"] = str(data["new"]).lower()
        rows.append({"flow": flow, "time_ns": origin_ns + passed_ns - zero_ns, "event": kind, **now})
    if not rows:
        return schema.empty()
    frame = schema.checked(pl.DataFrame(rows, schema=schema.TRANSPORT), path.name)
    return frame.filter(pl.col("time_ns").is_between(0, end_ns, closed="left"))


def _events(path: Path) -> Iterator[tuple[int | None, int, str, dict[str, Any], float]]:
    """Each event: the file's origin, the time since then (ns), its name, its data, the unit of time in ms."""
    common: dict[str, Any] = {}
    unit_ms, passed = 1.0, 0.0
    for record in _records(path):
        if "trace" in record or "qlog_version" in record:
            trace = _table(record.get("trace"))
            common = _table(trace.get("common_fields", common))
            unit_ms = _UNITS_MS.get(str(_table(trace.get("configuration")).get("time_units")), 1.0)
            passed = 0.0
            continue
        time = _number(record.get("time"))
        if time is None:
            continue
        time_format = record.get("time_format", common.get("time_format"))
        passed = passed + time if time_format in _SINCE_PREVIOUS else time
        reference_ns = 0 if time_format == "absolute" else _reference_ns(common, unit_ms)
        name, data = str(record.get("name", "")).lower(), _table(record.get("data"))
        yield reference_ns, round(passed * unit_ms * _NS_PER_MS), name, data, unit_ms


def _reference_ns(common: dict[str, Any], unit_ms: float) -> int | None:
    """The origin of the file's times; None without one (ngtcp2 writes 0)."""
    reference = common.get("reference_time")
    if isinstance(reference, dict):
        # newer drafts: {"clock_type": …, "epoch": …, "wall_clock_time": …}; 1970 is the default of the epoch
        if epoch_ns := _wall_clock_ns(str(reference.get("epoch"))):
            return epoch_ns
        reference = reference.get("wall_clock_time")
    found = _number(reference)
    if found is None and isinstance(reference, str):
        return _wall_clock_ns(reference)
    return round(found * unit_ms * _NS_PER_MS) if found else None


def _wall_clock_ns(text: str) -> int | None:
    """A date of RFC 3339 in ns since 1970; None if it is none."""
    try:
        return round(datetime.fromisoformat(text).timestamp() * _NS_PER_S)
    except ValueError:
        return None


def _table(value: Any) -> dict[str, Any]:
    """``value`` if it is a dictionary, else an empty one."""
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> float | None:
    """A finite number, also one that is written as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """Heads of traces (``{"trace": …}``) and events, each a dictionary."""
    text = path.read_text(errors="replace")
    whole = _parsed(text) or _cut_short(text)
    if whole is not None and "traces" in whole:
        for trace in map(_table, whole["traces"]):
            yield {"trace": trace}
            fields = [str(name).lower() for name in trace.get("event_fields", ())]
            yield from (_named(event, fields) for event in trace.get("events", ()))
        return
    for line in text.replace(_SEPARATOR, "").splitlines():
        record = _parsed(line)
        if record is not None:
            yield record


def _named(event: Any, fields: Sequence[str]) -> dict[str, Any]:
    """An event of any draft with the keys ``time``, ``name`` and ``data`` of the newer ones."""
    found = dict(zip(fields, event, strict=False)) if isinstance(event, list) else event
    if not isinstance(found, dict):
        return {}
    timed = next((name for name in _TIMES if name in found), None)
    if "name" in found or timed is None:
        return found
    # drafts 00 to 02
    kind = found.get("event", found.get("event_type", found.get("type", "")))
    named = {"time": found[timed], "name": f"{found.get('category', '')}:{kind}", "data": found.get("data")}
    return (
        named if timed == "time" and not isinstance(event, list) else named | {"time_format": _TIMES[timed]}
    )


def _cut_short(text: str) -> dict[str, Any] | None:
    """An object with ``traces`` whose text ends too early, with its whole events; None if it is none."""
    begin = re.search(r'"events"\s*:\s*\[', text)
    if begin is None:
        return None
    whole = _parsed(f"{text[: begin.end()]}]}}]}}")
    if whole is None or not isinstance(whole.get("traces"), list):
        return None
    decoder, events, at = json.JSONDecoder(), whole["traces"][-1]["events"], begin.end()
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # it also matches nothing
        try:
            event, at = decoder.raw_decode(text, at)
        except ValueError:
            return whole
        events.append(event)


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
