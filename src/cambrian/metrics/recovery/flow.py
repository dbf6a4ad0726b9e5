"""All figures of the loss recovery of one flow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_MS, int64
from cambrian.metrics.recovery.episodes import Episodes, episodes
from cambrian.metrics.recovery.false_losses import FalseLosses, false_losses
from cambrian.metrics.recovery.redundancy import QUIC_HEADER_BYTES, Delivery, Redundancy, redundancy
from cambrian.metrics.recovery.tail import Tail, tail
from cambrian.metrics.recovery.timeouts import timeouts

#: round trips after which the sender has had time to declare a loss: one until ACKs for later
#: packets come, 9/8 for the time threshold (RFC 9002 section 6.1.2)
_NOTICE_ROUND_TRIPS = 2.125


@dataclass(frozen=True)
class FlowFacts:
    """Facts about a flow that its packets and its transport trace lack.

    Times count from the trial's zero. ``end_ns``: the trial's. ``random_drops``: what its link lost
    before the bottleneck. ``declared``: packets that the sender declared lost or, kernel TCP,
    retransmitted; None if unknown, or if packets are also lost behind the bottleneck.
    ``counted_until_ns``: when it counted them.
    ``timeouts``: RTOs or PTOs by its own count, made when its program ended. ``header_bytes``: of each data
    frame where known. ``done_ns``: when its receiver had everything, None if it never had. ``size_bytes``: of
    a flow of fixed size that came whole, else None; a tail needs both, and ``rate_mbps``, the bottleneck's
    where it is constant.
    """

    forward_ns: int
    back_ns: int
    start_ns: int
    end_ns: int
    random_drops: int
    declared: int | None
    counted_until_ns: int
    timeouts: int | None
    delivery: Delivery | None
    header_bytes: float | None
    size_bytes: int | None
    done_ns: int | None
    rate_mbps: float | None

    @property
    def rtt_ms(self) -> float:
        """Base round trip in ms."""
        return (self.forward_ns + self.back_ns) / NS_PER_MS


@dataclass(frozen=True)
class FlowRecovery:
    """One flow; None where it is unknown (see :class:`FlowFacts`)."""

    episodes: Episodes
    false_losses: FalseLosses | None
    redundancy: Redundancy | None
    timeouts: int | None
    tail: Tail | None


def flow_recovery(packets: pl.DataFrame, transport: pl.DataFrame, facts: FlowFacts) -> FlowRecovery:
    """``packets`` and ``transport`` are those of the flow alone."""
    delivery = facts.delivery
    return FlowRecovery(
        episodes=episodes(packets, transport, forward_ns=facts.forward_ns, back_ns=facts.back_ns),
        false_losses=_false_losses(packets, facts),
        redundancy=redundancy(packets, delivery, facts.header_bytes) if delivery else None,
        timeouts=timeouts(transport, facts.timeouts, facts.done_ns),
        tail=_tail(packets, facts),
    )


def _false_losses(packets: pl.DataFrame, facts: FlowFacts) -> FalseLosses | None:
    if facts.declared is None:
        return None
    drops = np.sort(int64(packets.filter(pl.col("outcome") == "dropped"), "arrival_ns"))
    done = facts.done_ns is not None
    waits = packets.select((pl.col("departure_ns") - pl.col("arrival_ns")).max()).item()
    rtt_ns = facts.forward_ns + facts.back_ns + (waits or 0)
    return false_losses(
        facts.declared,
        drops,
        facts.random_drops,
        span_ns=(facts.start_ns, facts.end_ns),
        unnoticed_ns=0 if done else round(_NOTICE_ROUND_TRIPS * rtt_ns),
        after_ns=0 if done else max(facts.counted_until_ns - facts.end_ns, 0),
    )


def _tail(packets: pl.DataFrame, facts: FlowFacts) -> Tail | None:
    if facts.size_bytes is None or facts.done_ns is None or facts.rate_mbps is None:
        return None
    return tail(
        packets,
        start_ns=facts.start_ns,
        done_ns=facts.done_ns,
        rtt_ms=facts.rtt_ms,
        rate_mbps=facts.rate_mbps,
        wire_bytes=_wire_bytes(packets, facts.size_bytes, facts.header_bytes),
    )


def _wire_bytes(packets: pl.DataFrame, size_bytes: int, header_bytes: float | None) -> float:
    """``size_bytes`` of application data as frames of the flow's largest size."""
    full = packets.get_column("size_bytes").max()
    frame = float(full) if isinstance(full, int) else 0.0
    header = sum(QUIC_HEADER_BYTES) / 2 if header_bytes is None else header_bytes
    return size_bytes * frame / (frame - header) if frame > header else float(size_bytes)
