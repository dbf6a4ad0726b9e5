"""Number of retransmission timeouts."""

from __future__ import annotations

import polars as pl

from cambrian.metrics.states.vocabulary import RETRANSMISSION_TIMEOUT, words_of

#: RTO of TCP (RFC 6298), PTO of QUIC (RFC 9002, section 6.2)
_EXPIRED = ("rto", "pto")


def timeouts(transport: pl.DataFrame, own_count: int | None, done_ns: int | None = None) -> int | None:
    """RTOs of kernel TCP, PTOs of a QUIC stack, until its receiver had everything; None where it is unknown.

    ``transport``: of one flow. ``own_count``: the stack's when its program ended, if it has one. ``done_ns``:
    when the receiver had everything, in the log's time; None if it never had. Kernel TCP's timeouts are its
    entries to the state "loss" (``tcp_enter_loss``; any word of a retransmission timeout counts); its tail
    loss probes are not among them. Many stacks do not export their timers, so a log without a row "pto" gives
    None.
    """
    if own_count is not None and (done_ns is None or own_count == 0):
        return own_count
    # a sender whose receiver has ended repeats its last packets, and its own count has these timeouts too
    counts = pl.lit(True) if done_ns is None else pl.col("time_ns") <= done_ns
    changes = transport.filter(pl.col("event") == "state")
    if changes.height and own_count is None:
        return changes.filter(
            counts, pl.col("state").is_in(words_of(changes["state"], RETRANSMISSION_TIMEOUT))
        ).height
    expired = transport.filter(pl.col("event").is_in(_EXPIRED))
    return expired.filter(counts).height if expired.height else None
