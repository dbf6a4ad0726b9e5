"""Bytes in flight, from packets at the bottleneck alone.

A packet that arrives at the queue at ``a`` was sent at ``a − forward``. The acknowledgement of a packet that
departs at ``x`` reaches the sender at ``x + back`` at the earliest, and packets sent from then on arrive at
the queue from ``x + RTT`` on. The sender learns of a dropped packet when the third packet after it is
acknowledged (RFC 9002 section 6.1.1, RFC 5681 section 3.2). A sender limited by its window keeps its flight
at the window: the flight's upper envelope *is* the congestion window, except for packets hidden by the
receiver's delayed acknowledgements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import SMALLEST_DATA_BYTES, BoolArray, Int64Array, int64

#: packets after a lost one whose acknowledgements tell of the loss
#: (delivered ones, for QUIC too: where several are dropped it may know up to two packets earlier, which is
#: not taken into account here, because it would move the flights of all QUIC senders)
PACKET_THRESHOLD = 3
#: round trips by which a sender may learn of a drop or mark later than the packets show
LATE = 0.3
#: later than all times: stands for "never removed"
NEVER_NS = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Flight:
    """The bytes in flight just after each packet with data was sent, in order of sending; arrays of one size.

    ``arrival_ns``: when that packet arrived at the queue (its sending + the forward delay).
    ``size_bytes``: its frame. ``flight_bytes``: frames in flight then, that packet included.
    ``packet_bytes``: the flow's median frame. It tells data from control packets, and is not the unit of a
    flight: that is the full frame (``window.full_frame``). ``round_trip_ns``: the packet's round trip with
    queueing; for a packet that did not depart, that of the last departed one before it. ``signal_ns``:
    arrivals of those that were dropped (or marked); ``learnt_ns``: the first arrival at which the sender
    knows of each; ``marked``: True for marks, False for drops.
    """

    arrival_ns: Int64Array
    size_bytes: Int64Array
    flight_bytes: Int64Array
    packet_bytes: int
    round_trip_ns: Int64Array
    signal_ns: Int64Array
    learnt_ns: Int64Array
    marked: BoolArray

    def trips_ns(self, at_ns: Int64Array) -> Int64Array:
        """The round trip of the packet that arrives at the queue at each time, or next; 0 without packets."""
        if not len(self.arrival_ns):
            return np.zeros(len(at_ns), np.int64)
        place = np.searchsorted(self.arrival_ns, at_ns).clip(max=len(self.arrival_ns) - 1)
        trips_ns: Int64Array = self.round_trip_ns[place]
        return trips_ns

    def trip_ns(self, at_ns: int) -> int:
        """The same for one time."""
        return int(self.trips_ns(np.array([at_ns]))[0])

    def most_bytes(self, begin_ns: float, end_ns: float) -> float:
        """Largest flight in [begin_ns, end_ns); NaN if no packet is sent then."""
        first, last = np.searchsorted(self.arrival_ns, [begin_ns, end_ns])
        return float(self.flight_bytes[first:last].max()) if last > first else np.nan


def flight(packets: pl.DataFrame, rtt_ns: int) -> Flight:
    """The flight at each of a flow's packets with data; empty without any.

    ``packets``: its rows, in order of arrival. ``rtt_ns``: its round trip without queueing.

    Packets without data, such as an answer to the receiver's own packets, are in nobody's window.

    Random loss before the capture point is invisible: it makes the flight too small by the bytes lost in
    the last round trip. Packets still in the queue at the end stay in flight.
    """
    packets = packets.filter(pl.col("size_bytes") >= SMALLEST_DATA_BYTES)
    arrival_ns = int64(packets, "arrival_ns")
    if not len(arrival_ns):
        empty = np.empty(0, np.int64)
        return Flight(empty, empty, empty, 0, empty, empty, empty, empty.astype(bool))
    size_bytes = int64(packets, "size_bytes")
    departed = (packets["outcome"] == "departed").to_numpy()
    dropped = (packets["outcome"] == "dropped").to_numpy()
    signals = dropped | packets["ce"].fill_null(False).to_numpy()
    departure_ns = packets["departure_ns"].fill_null(0).cast(pl.Int64).to_numpy()

    removed_ns = _removed_ns(departed, dropped, departure_ns, rtt_ns)
    order = np.argsort(removed_ns, kind="stable")
    gone_bytes = np.concatenate(([0], np.cumsum(size_bytes[order])))
    gone = np.searchsorted(removed_ns[order], arrival_ns, side="right")
    last = np.maximum.accumulate(np.where(departed, np.arange(len(departed)), -1))
    waited_ns = np.where(last >= 0, (departure_ns - arrival_ns)[last], 0)
    return Flight(
        arrival_ns=arrival_ns,
        size_bytes=size_bytes,
        flight_bytes=np.cumsum(size_bytes) - gone_bytes[gone],
        packet_bytes=int(np.median(size_bytes)),
        round_trip_ns=rtt_ns + waited_ns,
        signal_ns=arrival_ns[signals],
        learnt_ns=removed_ns[signals],
        marked=~dropped[signals],
    )


def _removed_ns(
    departed: np.ndarray[tuple[int], np.dtype[np.bool_]],
    dropped: np.ndarray[tuple[int], np.dtype[np.bool_]],
    departure_ns: Int64Array,
    rtt_ns: int,
) -> Int64Array:
    """The first arrival at which the sender knows that each packet has left the network."""
    removed_ns = np.where(departed, departure_ns + rtt_ns, NEVER_NS)
    left_ns = departure_ns[departed]
    if len(left_ns):
        before = np.cumsum(departed)[dropped]
        teller = np.minimum(before + PACKET_THRESHOLD - 1, len(left_ns) - 1)
        # where no later packet left, nothing tells the sender
        removed_ns[dropped] = np.where(before < len(left_ns), left_ns[teller] + rtt_ns, NEVER_NS)
    return removed_ns
