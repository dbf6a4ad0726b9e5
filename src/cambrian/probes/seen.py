"""One flow of one trial, as the measures see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from cambrian.metrics.columns import Int64Array, int64
from cambrian.metrics.parameters import flight
from cambrian.metrics.parameters.flight import Flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.study.model import Network

#: round trips (without queueing) after its start in which a flow may still be in its first slow start
WARM_UP_TRIPS = 50


@dataclass(frozen=True)
class Seen:
    """A flow's packets and what was configured, with its network.

    ``packets``: those of all flows of the trial. ``starts_ns``: when each of them was started. ``page``: what
    the flow loads, by its name.
    """

    trace: FlowTrace
    network: Network
    packets: pl.DataFrame
    starts_ns: tuple[int, ...]
    page: str | None = None

    @cached_property
    def flight(self) -> Flight:
        """What was in flight just after each packet was sent; times are of the queue's clock."""
        return flight.flight(self.trace)

    @property
    def settled_ns(self) -> int:
        """From when on the flow is past its first slow start."""
        return self.trace.start_ns + WARM_UP_TRIPS * self.trace.rtt_ns

    @cached_property
    def carried(self) -> pl.DataFrame:
        """The packets that left the bottleneck once the flow had settled."""
        gone = pl.col("outcome") == "departed"
        return self.trace.packets.filter(gone & (pl.col("departure_ns") >= self.settled_ns))

    @cached_property
    def sizes_bytes(self) -> Int64Array:
        """Frame sizes of all that the settled flow sent, in order of arrival."""
        return int64(self.trace.packets.filter(pl.col("arrival_ns") >= self.settled_ns), "size_bytes")

    def most_in_flight(self, begin_ns: float, end_ns: float) -> float:
        """The most bytes in flight at a packet sent in [begin_ns, end_ns); NaN where none was sent."""
        first, last = np.searchsorted(self.flight.arrival_ns, [begin_ns, end_ns])
        return float(self.flight.flight_bytes[first:last].max()) if last > first else np.nan
