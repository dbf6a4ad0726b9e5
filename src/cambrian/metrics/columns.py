"""The columns that metrics read, and common selections of rows.

``packets``: one row for each packet that reached the bottleneck in the forward direction,
in order of arrival. Times are nanoseconds since the trial's start; sizes are frames as
the queue counts them (IP packet + 14 bytes).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Int64Array = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: a packet's fate. "queued": still in the buffer at the trial's end
OUTCOMES = ("departed", "dropped", "queued")

#: ``ce``: the bottleneck marked it; marks from elsewhere do not count
PACKETS: dict[str, Any] = {
    "flow": pl.UInt16,
    "arrival_ns": pl.Int64,
    "departure_ns": pl.Int64,
    "size_bytes": pl.UInt16,
    "outcome": pl.Enum(OUTCOMES),
    "ce": pl.Boolean,
}

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000
BITS_PER_BYTE = 8
#: frames that carry data are at least as large; smaller ones are ACKs and other control packets
SMALLEST_DATA_BYTES = 100


def require(packets: pl.DataFrame, *columns: str) -> None:
    """Raise ``ValueError`` with the names of the columns that ``packets`` lacks."""
    missing = [name for name in columns if name not in packets.columns]
    if missing:
        raise ValueError(
            f"packets lacks the column(s) {', '.join(missing)}; it has {', '.join(packets.columns)}"
        )


def require_interval(t0_ns: int, t1_ns: int) -> None:
    """Raise ``ValueError`` for an empty interval."""
    if t1_ns <= t0_ns:
        raise ValueError(f"the interval [{t0_ns}, {t1_ns}) ns is empty: t1_ns must be after t0_ns")


def departed(packets: pl.DataFrame, t0_ns: int | None = None, t1_ns: int | None = None) -> pl.DataFrame:
    """Packets that left the bottleneck in [t0_ns, t1_ns), in order of arrival."""
    require(packets, "flow", "arrival_ns", "departure_ns", "size_bytes", "outcome")
    condition = pl.col("outcome") == "departed"
    if t0_ns is not None:
        condition &= pl.col("departure_ns") >= t0_ns
    if t1_ns is not None:
        condition &= pl.col("departure_ns") < t1_ns
    return packets.filter(condition)


def flow_index(flow_count: int) -> pl.DataFrame:
    """One row for each flow, so that a flow without packets has a row in a result too."""
    if flow_count < 1:
        raise ValueError(f"flow_count is {flow_count}; a trial has at least one flow")
    return pl.DataFrame({"flow": pl.Series(range(flow_count), dtype=pl.UInt16)})


def to_mbps(size_bytes: float, interval_ns: float) -> float:
    """Bytes over nanoseconds as 10^6 bit/s."""
    return size_bytes * BITS_PER_BYTE * 1000.0 / interval_ns


def int64(frame: pl.DataFrame, column: str) -> Int64Array:
    """A column without nulls as 64-bit integers (sums of ``u16`` would otherwise overflow)."""
    return frame.get_column(column).cast(pl.Int64).to_numpy()
