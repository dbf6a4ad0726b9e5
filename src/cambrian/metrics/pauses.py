"""Times in which a flow delivers or sends no data."""

from __future__ import annotations

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_MS, NS_PER_S, SMALLEST_DATA_BYTES, int64, require

#: a sender with data and without a loss hears from its receiver each round trip. Delayed acknowledgements
#: and BBR's ProbeRTT are shorter than this
_SILENT_TRIPS, _SILENT_NS = 3, 200 * NS_PER_MS


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
    require(packets, "arrival_ns", "size_bytes", "outcome", "ce")
    data = packets.filter(pl.col("size_bytes") >= SMALLEST_DATA_BYTES).sort("arrival_ns")
    arrival_ns = int64(data, "arrival_ns")
    signals = ((data["outcome"] == "dropped") | data["ce"].fill_null(False)).to_numpy()
    last_ns = np.maximum.accumulate(np.where(signals, arrival_ns, -(2**62)))
    gaps_ns = np.diff(arrival_ns)
    silent = (
        (gaps_ns > _SILENT_TRIPS * trip_ns + _SILENT_NS)
        & (arrival_ns[:-1] - last_ns[:-1] > _SILENT_TRIPS * trip_ns)
        & (arrival_ns[:-1] >= t0_ns)
        & (arrival_ns[1:] < t1_ns)
    )
    return tuple((gaps_ns[silent] / NS_PER_S).tolist())
