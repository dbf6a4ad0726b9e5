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

from cambrian.metrics.columns import SMALLEST_DATA_BYTES, int64
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
