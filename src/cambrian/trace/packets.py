"""Reads the bottleneck's capture into ``packets``: when each packet arrived, and departed or was dropped."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cambrian.metrics.columns import PACKETS

#: ``struct record`` of testbed/native/capture.c
RECORD = np.dtype(
    [
        ("time_ns", "<u8"),
        ("key", "<u8"),
        ("source", "<u4"),
        ("size", "<u2"),
        ("kind", "u1"),
        ("ecn", "u1"),
    ]
)
_ARRIVAL, _DEPARTURE = 0, 1
_CONGESTION_EXPERIENCED = 3
_NO_FLOW = 65535
_NOT_YET = np.iinfo(np.int64).min


class TraceError(ValueError):
    """A capture or trace that is incomplete or contradicts itself; the text says why."""


def _occurrence(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Number of earlier occurrences of each key, in order: 0 for the first one."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    counts = np.arange(len(keys)) - np.repeat(starts, np.diff(np.r_[starts, len(keys)]))
    result = np.empty(len(keys), np.int64)
    result[order] = counts
    return result


def _match(arrivals: NDArray[np.void], departures: NDArray[np.void]) -> NDArray[np.int64]:
    """Index of each arrival's departure, −1 if it has none.

    A packet is known by its key; of identical packets (a duplicate on the way) the
    n-th that arrived is the n-th that left.

    Raises:
        TraceError: a packet departed without an arrival.
    """
    left = pl.DataFrame(
        {
            "key": departures["key"],
            "n": _occurrence(departures["key"]),
            "departure": np.arange(len(departures), dtype=np.int64),
        }
    )
    came = pl.DataFrame({"key": arrivals["key"], "n": _occurrence(arrivals["key"])})
    joined = came.join(left, on=["key", "n"], how="left", maintain_order="left")
    index: NDArray[np.int64] = joined["departure"].fill_null(-1).to_numpy()
    matched = int((index >= 0).sum())
    if matched != len(departures):
        raise TraceError(
            f"{len(departures) - matched} packets departed from the bottleneck without an arrival"
        )
    return index


def _flows(sources: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """10.0.F.2 → F; 65535 for any other sender (see testbed/addresses.py)."""
    is_sender = ((sources >> 16) == 0x0A00) & ((sources & 0xFF) == 2)
    return np.where(is_sender, (sources >> 8) & 0xFF, _NO_FLOW).astype(np.uint16)


def read(path: Path, *, zero_ns: int, end_ns: int, in_order: bool, is_empty: bool) -> pl.DataFrame:
    """``packets`` of a trial from ``capture.bin``.

    Parameters:
        zero_ns: the trial's zero, on the guest's clock.
        end_ns: the trial's end, in nanoseconds after zero. Later arrivals are left out, and
            a packet that was still in the buffer then is ``queued``.
        in_order: one FIFO for all flows.
        is_empty: the bottleneck holds no packet at the trial's end, by the kernel's counters.

    Only packets of the flows count; the probe's echoes came before zero.

    Raises:
        TraceError: the file is cut short, or a packet departed without an arrival.
    """
    data = np.fromfile(path, dtype=np.uint8)
    if len(data) % RECORD.itemsize:
        raise TraceError(f"{path.name} is truncated: {len(data)} bytes are not a whole number of records")
    records = data.view(RECORD)
    arrivals = records[records["kind"] == _ARRIVAL]
    departures = records[records["kind"] == _DEPARTURE]
    # receptions at one instant come in the order of the ring; sorting is stable
    arrivals = arrivals[np.argsort(arrivals["time_ns"], kind="stable")]
    departures = departures[np.argsort(departures["time_ns"], kind="stable")]
    index = _match(arrivals, departures)

    arrival_ns = arrivals["time_ns"].astype(np.int64) - zero_ns
    if len(departures):
        safe = np.maximum(index, 0)
        departure_ns = np.where(index >= 0, departures["time_ns"].astype(np.int64)[safe] - zero_ns, _NOT_YET)
        marked = (index >= 0) & (departures["ecn"][safe] == _CONGESTION_EXPERIENCED)
        marked &= arrivals["ecn"] != _CONGESTION_EXPERIENCED
    else:
        departure_ns = np.full(len(arrivals), _NOT_YET)
        marked = np.zeros(len(arrivals), bool)
    flow = _flows(arrivals["source"])
    queue = np.zeros_like(flow) if in_order else flow
    outcome = _outcomes(queue, arrival_ns, departure_ns, end_ns, is_empty=is_empty)
    frame = pl.DataFrame(
        {
            "flow": flow,
            "arrival_ns": arrival_ns,
            "departure_ns": departure_ns,
            "size_bytes": arrivals["size"],
            "outcome": outcome,
            "ce": marked,
        }
    ).with_columns(
        departure_ns=pl.when(pl.col("outcome") == "departed").then(pl.col("departure_ns")),
    )
    kept = frame.filter(
        (pl.col("flow") != _NO_FLOW) & pl.col("arrival_ns").is_between(0, end_ns, closed="left")
    )
    return kept.cast(pl.Schema(PACKETS))


def arrivals(path: Path, flows: int, *, zero_ns: int, from_ns: int, until_ns: int) -> list[int]:
    """Number of packets of each flow that ``capture.bin`` has in [from_ns, until_ns) after zero."""
    records = np.fromfile(path, dtype=RECORD)
    time_ns = records["time_ns"].astype(np.int64) - zero_ns
    wanted = (records["kind"] == _ARRIVAL) & (from_ns <= time_ns) & (time_ns < until_ns)
    found = _flows(records["source"][wanted])
    return [int((found == flow).sum()) for flow in range(flows)]


def _outcomes(
    queue: NDArray[np.uint16],
    arrival_ns: NDArray[np.int64],
    departure_ns: NDArray[np.int64],
    end_ns: int,
    *,
    is_empty: bool,
) -> NDArray[np.str_]:
    """departed, dropped or queued, for packets in order of arrival; ``queue`` is each one's.

    The capture goes on for a moment after the trial's end: what left then was queued at
    the end. A packet that never left was dropped if a later one of its queue did leave, or
    if the bottleneck went on for twice as long as any packet ever waited in it (a starved
    flow's own queue may have no later packet), or if the bottleneck was empty at the end
    (an AQM may drop all that came last). Otherwise it was still queued.
    """
    left = departure_ns != _NOT_YET
    position = np.arange(len(queue))
    last_that_left = np.full(int(queue.max(initial=0)) + 1, -1)
    np.maximum.at(last_that_left, queue[left], position[left])
    overtaken = position < last_that_left[queue]
    longest_wait_ns = int((departure_ns - arrival_ns)[left].max(initial=0))
    overdue = arrival_ns + 2 * longest_wait_ns < int(departure_ns[left].max(initial=_NOT_YET))
    lost = ~left & (overtaken | overdue | (is_empty & (arrival_ns < end_ns)))
    return np.where(left & (departure_ns < end_ns), "departed", np.where(lost, "dropped", "queued"))


def exchanged(packets: pl.DataFrame) -> pl.DataFrame:
    """The packets of a trial with two flows, with the flow numbers exchanged."""
    return packets.with_columns(flow=(1 - pl.col("flow").cast(pl.Int32)).cast(packets.schema["flow"]))


def fingerprint(packets: pl.DataFrame) -> str:
    """SHA-256 of the packet trace: flows, times, sizes, outcomes and marks; equal for equal columns."""
    digest = hashlib.sha256()
    for name in ("flow", "arrival_ns", "departure_ns", "size_bytes", "outcome", "ce"):
        column = packets[name]
        if name == "outcome":
            column = column.to_physical()
        values = column.cast(pl.Int64).fill_null(_NOT_YET).to_numpy()
        digest.update(name.encode() + np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()
