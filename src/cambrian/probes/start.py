"""The start of a bulk flow: bursts and growth of its first slow start, and the throughput just after."""

from __future__ import annotations

import numpy as np
import polars as pl

from cambrian.metrics import window_growth
from cambrian.metrics.columns import BITS_PER_BYTE, SMALLEST_DATA_BYTES, int64, to_mbps
from cambrian.metrics.parameters.beginning import beginning
from cambrian.metrics.parameters.flight import PACKET_THRESHOLD
from cambrian.metrics.parameters.trains import trains
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import ProbedFlow

#: packets that follow each other ten times as fast as the link sends them leave together: a sender needs
#: several system calls for a large burst, and a pacer in slow start has two to three times the link's rate
_TOGETHER_SERVICE = 0.1
#: round trips after the first data, from and to: on the probe's networks slow start is over
_AFTER_TRIPS = (10, 20)
_UNSEEN = "its first flight of data is not visible"
_CHANGES = "the link's rate changes"


def carried_percent(flow: ProbedFlow) -> Figure | NoFigure:
    """Share of the link's capacity that the flow carries from 10 to 20 round trips after its first data."""
    begun, rate_mbps, rtt_ns = beginning(flow.trace), flow.trace.rate_mbps, flow.trace.rtt_ns
    if begun is None:
        return NoFigure(_UNSEEN)
    if rate_mbps is None:
        return NoFigure(_CHANGES)
    begin_ns, end_ns = (begun.start_ns + trips * rtt_ns for trips in _AFTER_TRIPS)
    if flow.trace.end_ns < end_ns:
        return NoFigure(f"the flow ends within {_AFTER_TRIPS[1]} round trips of its first data")
    departed = (pl.col("outcome") == "departed") & pl.col("departure_ns").is_between(begin_ns, end_ns, "left")
    carried_bytes = float(flow.trace.packets.filter(departed)["size_bytes"].sum())
    return Figure(100 * to_mbps(carried_bytes, end_ns - begin_ns) / rate_mbps, 1)


def growth(flow: ProbedFlow) -> Figure | NoFigure:
    """Bytes by which the window grows for each byte acknowledged, at most; before the sender knows of a drop.

    Doubling in each round trip is 1. What is in flight beyond the first flight of data has grown.
    """
    begun = beginning(flow.trace)
    if begun is None:
        return NoFigure(_UNSEEN)
    is_data, arrival_ns = pl.col("size_bytes") >= SMALLEST_DATA_BYTES, pl.col("arrival_ns")
    packets = flow.trace.packets.filter(is_data & (arrival_ns < _until_ns(flow)))
    first = packets.filter(arrival_ns.is_between(begun.start_ns, begun.arrival_ns[-1]))
    initial_bytes = int(first["size_bytes"].cast(pl.Int64).sum())
    found = window_growth.for_each_acknowledged(packets, flow.trace.rtt_ns, initial_bytes)
    if found is None:
        most = window_growth.LEAST_ACKED_PACKETS
        return NoFigure(f"fewer than {most} packets are acknowledged before the first drop or mark")
    return Figure(found, 1, 1 / window_growth.LEAST_ACKED_PACKETS)


def burst_packets(flow: ProbedFlow) -> Figure | NoFigure:
    """Most packets that leave together after the initial window, before the sender knows of a signal."""
    begun = beginning(flow.trace)
    if begun is None:
        return NoFigure(_UNSEEN)
    rate_mbps = flow.trace.rate_mbps
    if rate_mbps is None:
        return NoFigure(_CHANGES)
    service_ns = flow.flight.packet_bytes * BITS_PER_BYTE * 1000 / rate_mbps
    packets = (
        trains(flow.trace, _TOGETHER_SERVICE * service_ns).between(begun.next_ns, _until_ns(flow)).packets
    )
    if not len(packets):
        return NoFigure("it sent nothing between its first flight and the first drop or mark")
    return Figure(float(np.max(packets)), len(packets), 0.5)


def _until_ns(flow: ProbedFlow) -> int:
    """When the sender can know of the first drop or mark, on the queue's clock; or slow start is over."""
    until_ns = int(flow.flight.learnt_ns.min(initial=flow.settled_ns))
    return min(until_ns, _by_number_ns(flow)) if flow.trace.protocol == "quic" else until_ns


def _by_number_ns(flow: ProbedFlow) -> int:
    """When packet numbers tell of the first drop: dropped packets have one, too (RFC 9002, section 6.1.1)."""
    packets = flow.trace.packets
    dropped = np.flatnonzero((packets["outcome"] == "dropped").to_numpy())
    if not len(dropped):
        return flow.settled_ns
    later = packets.slice(int(dropped[0]) + PACKET_THRESHOLD).filter(pl.col("outcome") == "departed")
    return int(int64(later, "departure_ns").min(initial=flow.settled_ns)) + flow.trace.rtt_ns
