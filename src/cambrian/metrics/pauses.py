"""Times in which a flow delivers or sends no data."""

from __future__ import annotations

import numpy as np
import polars as pl

from cambrian.metrics.columns import (
    NS_PER_MS,
    NS_PER_S,
    SMALLEST_DATA_BYTES,
    BoolArray,
    Int64Array,
    int64,
    require,
)

#: a sender with data and without a loss hears from its receiver each round trip. With delayed
#: acknowledgements, and in BBR's ProbeRTT, it is silent for less than half of one more, or for less than this
_LATE_TRIPS, _LATE_NS = 0.5, 100 * NS_PER_MS
#: a drop or mark may be the cause of a silence that begins so many round trips after it
_CAUSE_TRIPS = 3


def longest_pause_ns(packets: pl.DataFrame, flow: int, t0_ns: int, t1_ns: int) -> int:
    """Longest time within [t0_ns, t1_ns) in which none of the flow's packets with data left the bottleneck.

    A stalled sender may still answer its receiver's packets. From the interval's begin to the first such
    departure, between two, or from the last to its end; all of it where none left.
    """
    require(packets, "flow", "departure_ns", "size_bytes")
    data = (pl.col("flow") == flow) & (pl.col("size_bytes") >= SMALLEST_DATA_BYTES)
    inside = packets.filter(data & pl.col("departure_ns").is_between(t0_ns, t1_ns, closed="left"))
    times_ns = inside.get_column("departure_ns").sort().to_numpy()
    return int(np.diff(np.concatenate(([t0_ns], times_ns, [t1_ns]))).max())


def causeless_silences_s(packets: pl.DataFrame, t0_ns: int, t1_ns: int, trip_ns: int) -> tuple[float, ...]:
    """Length of each silence of a flow in [t0_ns, t1_ns) that no drop or mark of its own precedes.

    ``packets``: those of one flow. ``trip_ns``: its round trip with a full queue. A silence lies between two
    packets with data. Its own application, its receiver or its controller is the cause.
    """
    arrival_ns, has_cause = _arrivals(packets, t0_ns, t1_ns, trip_ns)
    gaps_ns = np.diff(arrival_ns)
    silent = gaps_ns > trip_ns + max(_LATE_TRIPS * trip_ns, _LATE_NS)
    return tuple((gaps_ns[silent & ~has_cause[:-1]] / NS_PER_S).tolist())


def loss_silence_ns(packets: pl.DataFrame, t0_ns: int, t1_ns: int, trip_ns: int) -> int | None:
    """Second longest time without data in [t0_ns, t1_ns) that begins soon after a drop or mark.

    The longest may be an accident. The other silences are :func:`causeless_silences_s`. None with fewer than
    two packets after drops or marks. Parameters as there.
    """
    arrival_ns, has_cause = _arrivals(packets, t0_ns, t1_ns, trip_ns)
    gaps_ns = np.sort(np.diff(arrival_ns, append=t1_ns)[has_cause])
    return int(gaps_ns[-2]) if len(gaps_ns) > 1 else None


def _arrivals(packets: pl.DataFrame, t0_ns: int, t1_ns: int, trip_ns: int) -> tuple[Int64Array, BoolArray]:
    """Arrivals of data in [t0_ns, t1_ns), and whether each comes soon after a drop or mark; shape (n,)."""
    require(packets, "arrival_ns", "size_bytes", "outcome", "ce")
    data = packets.filter(pl.col("size_bytes") >= SMALLEST_DATA_BYTES).sort("arrival_ns")
    arrival_ns = int64(data, "arrival_ns")
    signals = ((data["outcome"] == "dropped") | data["ce"].fill_null(False)).to_numpy()
    last_ns = np.maximum.accumulate(np.where(signals, arrival_ns, -(2**62)))
    inside = (arrival_ns >= t0_ns) & (arrival_ns < t1_ns)
    return arrival_ns[inside], np.asarray((arrival_ns - last_ns)[inside] <= _CAUSE_TRIPS * trip_ns, bool)
