"""Packets for each acknowledgement: packets that reached the receiver over packets that it sent back.

This is a property of the receiver, though a sender may ask for another frequency. Losses lower the ratio:
QUIC acknowledges a packet after a gap at once (RFC 9000 section 13.2.1), TCP every packet until the
gap is filled (RFC 5681 section 4.2), a round trip later. The number of these acknowledgements that were due
anyway is unknown: none and all of them bound the interval. A packet with a CE mark is also acknowledged at
once (RFC 9000 section 13.2.1, RFC 8257 section 3.2).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from cambrian.metrics.columns import BITS_PER_BYTE, SMALLEST_DATA_BYTES, Int64Array, int64
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.parameters.flow_trace import FlowTrace

KEY = "ack_every_packets"
#: fewest acknowledgements; with fewer, those of the handshake matter
_FEWEST_ACKS = 200
#: mean time between packets from which on a delayed acknowledgement's timer would matter
_SPARSE_NS = 4_000_000
#: with more packets after gaps than this, of the acknowledgements, losses decide when to acknowledge
_MOST_AT_ONCE = 0.75
#: share: handshake, delayed acknowledgements at pauses, Linux's quick ones at the start; and of a
#: shared link, which leaves pauses
_UNUSUAL = 0.015
_UNUSUAL_SHARED = 0.1
#: RFC 9000 section 13.2.2, RFC 5681 section 4.2
_USUAL = 2.0
#: acknowledgements that come in bunches so far apart, or nearer: QUIC's usual max_ack_delay (RFC 9000 §18.2)
_LONGEST_BUNCH_NS = 25_000_000
#: with fewer rows for each acknowledgement the times of a log are not those of acknowledgements
_MOST_ROWS = 0.5
#: acknowledgements in a bunch
_FEWEST_IN_BUNCH = 2


def estimate(trace: FlowTrace) -> Iterator[Estimate | Missing]:
    """Packets for each acknowledgement over the whole trial."""
    if trace.acks is None:
        yield Missing(KEY, "packets on the return path were not counted", "packets")
        return
    if trace.acks < _FEWEST_ACKS:
        yield Missing(KEY, f"only {trace.acks} packets on the return path", "packets")
        return
    if not trace.steady:
        yield Missing(KEY, trace.changing, "packets")
        return
    arrived, at_once = _arrived(trace)
    if trace.end_ns - trace.start_ns > _SPARSE_NS * arrived:
        yield Missing(KEY, "low packet rate: the receiver's timer decides", "packets")
        return
    if trace.random_loss or at_once > _MOST_AT_ONCE * trace.acks or at_once >= arrived:
        yield Missing(KEY, "losses decide: a receiver acknowledges at once after a loss", "packets")
        return
    bounds = arrived / trace.acks, (arrived - at_once) / (trace.acks - at_once)
    value = sum(bounds) / 2
    unsure = abs(bounds[1] - bounds[0]) / 2 + (_UNUSUAL if trace.alone else _UNUSUAL_SHARED) * value
    yield Estimate(KEY, (value,), unsure, "packets")


def most(trace: FlowTrace) -> float:
    """Packets for each acknowledgement that no loss or mark made due, at least the usual two."""
    if not trace.acks:
        return _USUAL
    arrived, at_once = _arrived(trace)
    if at_once > _MOST_AT_ONCE * trace.acks:
        at_once = 0
    return max(_USUAL, (arrived - at_once) / (trace.acks - at_once))


def bunch_gap_ns(trace: FlowTrace) -> float:
    """The time between two bunches of acknowledgements by the log; 0 if it does not show them.

    A receiver that reads its packets by a timer has as many acknowledgements as others, but in bunches. It is
    the gap that half of the time lies in; a longer one than a receiver's delay is a log's that has few rows.
    """
    times_ns = np.unique(_logged_ns(trace))
    gaps_ns = np.sort(np.diff(times_ns))
    if not len(gaps_ns):
        return 0.0
    passed_ns = np.cumsum(gaps_ns)
    usual_ns = float(gaps_ns[np.searchsorted(passed_ns, passed_ns[-1] / 2)])
    return usual_ns if usual_ns <= _LONGEST_BUNCH_NS else 0.0


def in_bunches(trace: FlowTrace, frame_bytes: int) -> float:
    """Packets that one bunch of acknowledgements tells of at full rate; 0 if the log does not show bunches.

    ``frame_bytes``: the flow's full frame. A bunch has two acknowledgements at least. A log without a row for
    most acknowledgements may be polled, and shows no bunches.
    """
    if not trace.acks or trace.rate_mbps is None or not frame_bytes:
        return 0.0
    if len(_logged_ns(trace)) < _MOST_ROWS * trace.acks:
        return 0.0
    packets = bunch_gap_ns(trace) * trace.rate_mbps / (1e3 * BITS_PER_BYTE * frame_bytes)
    return packets if packets * trace.acks >= _FEWEST_IN_BUNCH * trace.packets.height else 0.0


def _logged_ns(trace: FlowTrace) -> Int64Array:
    return int64(trace.transport.filter(pl.col("event") == "ack"), "time_ns")


def _arrived(trace: FlowTrace) -> tuple[int, int]:
    """How many packets with data arrived, and how many of them the receiver acknowledges at once."""
    data = trace.packets.filter(pl.col("size_bytes") >= SMALLEST_DATA_BYTES)
    return int((data["outcome"] == "departed").sum()), _after_gaps(trace, data)


def _after_gaps(trace: FlowTrace, data: pl.DataFrame) -> int:
    """Packets that the receiver acknowledges at once: one before them is missing, or they are marked."""
    marked = int(data["ce"].fill_null(False).sum())
    dropped = (data["outcome"] == "dropped").to_numpy()
    if trace.protocol == "quic":
        return int((dropped[:-1] & ~dropped[1:]).sum()) + marked
    arrival_ns = int64(data, "arrival_ns")
    # the retransmission passes the queue as full as it was for the last packet before the drop
    wait_ns = (data["departure_ns"] - data["arrival_ns"]).forward_fill().fill_null(0).to_numpy()
    filled_ns = np.where(dropped, arrival_ns + trace.rtt_ns + wait_ns, 0)
    latest_ns = np.maximum.accumulate(filled_ns)
    return int((~dropped & (arrival_ns < latest_ns)).sum()) + marked
