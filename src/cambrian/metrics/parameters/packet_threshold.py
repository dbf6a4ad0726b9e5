"""Packet threshold: number of later packets delivered before a sender declares a packet lost.

The stack's log gives the time (a loss event, a retransmission, recovery); the queue gives the dropped packet
and the deliveries until then. QUIC counts packet numbers (RFC 9002 section 6.1.1), TCP delivered packets (RFC
5681 section 3.2). Only drops count after which all packets were delivered until that time, so the two are the
same. An earlier time threshold (RFC 9002 section 6.1.2, RFC 8985) hides a larger packet threshold: the value
is the effective one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import polars as pl

from cambrian.metrics.columns import Int64Array, int64
from cambrian.metrics.parameters import acks
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import frame_bytes
from cambrian.metrics.states.vocabulary import RECOVERY, words_of

KEY = "packet_threshold"
#: round trips, queueing included, without another drop or loss before one that is counted
_APART = 2
#: where three more packets take longer than this, in RTT, a time threshold comes first
_FAST = 0.1
_THREE = 3
#: packets in the round trip before a drop that is counted
_BUSY = 10
#: an acknowledgement and what the sender makes of it are this far apart at the most
_SLACK_NS = 50_000
#: a log of each acknowledgement has rows enough; less than this share of them is a sampled one
_LEAST_ROWS = 0.2
#: packets an acknowledgement where they were not counted (RFC 9000 section 13.2.2)
_ACK_EVERY = 2


def estimate(trace: FlowTrace) -> Iterator[Estimate | Missing]:
    """The packet threshold, with one value for each drop that stands alone."""
    if not trace.transport.height:
        yield Missing(KEY, "packets alone do not show when a sender declares a packet lost", "packets")
        return
    declared_ns = _declared_ns(trace.transport)
    if not len(declared_ns):
        yield Missing(KEY, "the stack logs no loss")
        return
    if not trace.steady or trace.random_loss:
        yield Missing(KEY, "packets are also lost before the queue" if trace.random_loss else trace.changing)
        return
    if trace.slow_receiver:
        yield Missing(KEY, "a slow receiver acknowledges late and loses packets behind the queue")
        return
    if trace.transport.height < _LEAST_ROWS * (trace.acks or 0):
        yield Missing(KEY, "the stack's log has too few rows: it may record losses late")
        return
    distances = _distances(trace, declared_ns)
    if not len(distances):
        yield Missing(KEY, "no single drop in the queue is followed by the stack's loss event")
        return
    # the threshold was passed by the last acknowledgement's packets: anywhere among them
    unsure = (_ack_every(trace, len(distances)) - 1) / 2
    if np.median(distances) < 1:
        yield Missing(KEY, "the stack's loss events do not follow the queue's drops")
        return
    if unsure > 1 and np.median(distances) - 2 * unsure < 1:
        # the values would reach far below one packet
        covered = round(2 * unsure + 1)
        yield Missing(KEY, f"what is acknowledged at once covers about {covered} packets, which hide it")
        return
    # a loss is declared after one packet at the least
    yield Estimate(KEY, tuple(max(float(distance) - unsure, 1.0) for distance in distances), unsure, "window")


def _declared_ns(transport: pl.DataFrame) -> Int64Array:
    """The sender's times of all rows that report a loss."""
    # Linux's word for a window that is lowered for a mark too
    words = [word for word in words_of(transport["state"], RECOVERY) if word.strip().lower() != "cwr"]
    declares = pl.col("event").is_in(["loss", "retransmit"]) | pl.col("state").is_in(words).fill_null(False)
    return int64(transport.filter(declares), "time_ns")


def _distances(trace: FlowTrace, declared_ns: Int64Array) -> Int64Array:
    """Packets from each drop that stands alone to the last one acknowledged when it was declared lost."""
    arrival_ns = int64(trace.packets, "arrival_ns")
    departed = (trace.packets["outcome"] == "departed").to_numpy()
    drops = np.flatnonzero((trace.packets["outcome"] == "dropped").to_numpy())
    departures_ns = int64(trace.packets.filter(pl.col("outcome") == "departed"), "departure_ns")
    order = np.cumsum(departed)  # departures up to and with each packet
    following = order[drops]  # the first departure after each drop
    drops, following = drops[following < len(departures_ns)], following[following < len(departures_ns)]
    known_ns = departures_ns[following] + trace.back_ns
    # a drop finds the queue full: its successor's wait is the longest there is
    quiet_ns = _APART * (known_ns - arrival_ns[drops] + trace.forward_ns)
    before_ns = np.concatenate(([np.iinfo(np.int64).min // 2], arrival_ns[drops][:-1]))
    declaration = np.searchsorted(declared_ns, known_ns - _SLACK_NS)
    last_declared = np.concatenate(([np.iinfo(np.int64).min // 2], declared_ns))[declaration]
    third_ns = departures_ns[np.minimum(following + _THREE - 1, len(departures_ns) - 1)]
    fast = third_ns - departures_ns[following] < _FAST * trace.rtt_ns
    # a window of a few packets has other ways to find a loss: probes, early retransmit
    busy = arrival_ns[drops] - arrival_ns[np.maximum(drops - _BUSY, 0)] < trace.rtt_ns
    alone = (busy & fast) & (
        (arrival_ns[drops] - before_ns > quiet_ns)
        & (known_ns - last_declared > quiet_ns)
        & (declaration < len(declared_ns))
    )
    # after the last packet of a train comes the next train: a time threshold may pass before three packets
    third_sent_ns = arrival_ns[departed][np.minimum(following + _THREE - 1, len(departures_ns) - 1)]
    late = (third_sent_ns - arrival_ns[drops] >= _FAST * trace.rtt_ns)[alone]
    drops, following, declaration = drops[alone], following[alone], declaration[alone]
    acknowledged = np.searchsorted(
        departures_ns, declared_ns[declaration] - trace.back_ns + _SLACK_NS, side="right"
    )
    delivered = acknowledged - following
    numbers = np.flatnonzero(departed)[np.maximum(acknowledged - 1, 0)] - drops
    clean: Int64Array = delivered[(numbers == delivered) & (delivered >= np.where(late, _THREE, 1))]
    return clean


def _ack_every(trace: FlowTrace, losses: int) -> int:
    """Packets that the sender learns of at once: those of an acknowledgement, or of a bunch of them."""
    if not trace.acks:
        return _ACK_EVERY
    arrived = int((trace.packets["outcome"] == "departed").sum())
    every = max(arrived / max(1, trace.acks - losses), acks.in_bunches(trace, frame_bytes(trace)))
    return max(1, math.ceil(round(every, 1)))
