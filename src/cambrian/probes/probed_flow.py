"""The input of the measures: one flow of one trial."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_S, Int64Array, int64
from cambrian.metrics.parameters import flight, window
from cambrian.metrics.parameters.flight import Flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.recovery import FalseLosses
from cambrian.metrics.throughput import carried_within
from cambrian.study.model import Network

#: round trips (without queueing) that a flow's first slow start may take
WARM_UP_TRIPS = 50
#: frames of at least this share of the flow's usual one carry data; smaller ones are ACKs and control packets
DATA = 0.5


@dataclass(frozen=True)
class ProbedFlow:
    """A flow's trace and its network.

    ``packets``: of all flows of the trial. ``starts_ns``: start of each flow. ``end_ns``: the trial's
    end; the trace of a flow that gave up ends before. ``page``: name of the page that the flow loads.
    ``false_losses``: by the sender's own count; None if unknown.
    """

    trace: FlowTrace
    network: Network
    packets: pl.DataFrame
    starts_ns: tuple[int, ...]
    end_ns: int
    page: str | None = None
    false_losses: FalseLosses | None = None

    @cached_property
    def flight(self) -> Flight:
        """Bytes in flight just after each packet with data was sent; times are arrivals at the queue."""
        return flight.flight(self.trace.packets, self.trace.rtt_ns)

    @cached_property
    def packet_bytes(self) -> int:
        """The flow's full frame, the unit of flights in packets; at least 1.

        The median frame is a small one where a sender has many of them, and makes more packets of a flight.
        """
        return max(window.frame_bytes(self.trace), 1)

    @cached_property
    def arrivals_ns(self) -> Int64Array:
        """Arrival times of all packets at the queue, control packets included, in order."""
        return int64(self.trace.packets, "arrival_ns")

    @cached_property
    def data_arrivals_ns(self) -> Int64Array:
        """Arrival times at the queue of packets that carry data, retransmissions included, in order."""
        sizes, usual = int64(self.trace.packets, "size_bytes"), self.flight.packet_bytes
        # no packet of a flow with only small packets carries data
        return self.arrivals_ns[sizes >= DATA * usual] if usual else np.empty(0, np.int64)

    @property
    def settled_ns(self) -> int:
        """Time after which the flow's first slow start is over."""
        return self.trace.start_ns + WARM_UP_TRIPS * self.trace.rtt_ns

    @cached_property
    def carried(self) -> pl.DataFrame:
        """The packets that departed after :attr:`settled_ns`."""
        departed = pl.col("outcome") == "departed"
        return self.trace.packets.filter(departed & (pl.col("departure_ns") >= self.settled_ns))

    @cached_property
    def sizes_bytes(self) -> Int64Array:
        """Frame sizes of all packets that arrived after :attr:`settled_ns`, in order of arrival."""
        return int64(self.trace.packets.filter(pl.col("arrival_ns") >= self.settled_ns), "size_bytes")

    def lost_spans_ns(self, key: Literal["loss_percent", "return_loss_percent"]) -> list[tuple[int, int]]:
        """(from, to) while this key of the schedule is 100 %, and then is not: everything is lost."""
        spans_s = [span for span in self.network.lost_spans_s(key) if math.isfinite(span[1])]
        return [(round(from_s * NS_PER_S), round(to_s * NS_PER_S)) for from_s, to_s in spans_s]

    def most_in_flight(self, begin_ns: float, end_ns: float) -> float:
        """The most bytes in flight at a packet sent in [begin_ns, end_ns); NaN where none was sent."""
        return self.flight.most_bytes(begin_ns, end_ns)

    def most_bytes_in_a_trip(self, begin_ns: float, end_ns: float) -> int:
        """Most bytes in one round trip (without queueing) that arrive in [begin_ns, end_ns)."""
        first, last = np.searchsorted(self.flight.arrival_ns, [begin_ns, end_ns])
        times, sizes = self.flight.arrival_ns[first:last], self.flight.size_bytes[first:last]
        return int(carried_within(times, sizes, self.trace.rtt_ns).max(initial=0))
