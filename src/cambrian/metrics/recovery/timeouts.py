"""Number of retransmission timeouts."""

from __future__ import annotations

import polars as pl

#: RTO of TCP (RFC 6298), PTO of QUIC (RFC 9002, section 6.2)
_EXPIRED = ("rto", "pto")


def timeouts(transport: pl.DataFrame, own_count: int | None) -> int | None:
    """RTOs of kernel TCP, PTOs of a QUIC stack; None where it is unknown.

    ``transport``: of one flow. ``own_count``: the stack's, if it has one. Kernel TCP's are
    its entries to the state "loss" (``tcp_enter_loss``); its tail loss probes are not among them.
    Many stacks do not export their timers, so a log without a row "pto" gives None.
    """
    if own_count is not None:
        return own_count
    changes = transport.filter(pl.col("event") == "state")
    if changes.height:
        return changes.filter(pl.col("state") == "loss").height
    return transport.filter(pl.col("event").is_in(_EXPIRED)).height or None
