"""Number of retransmission timeouts."""

from __future__ import annotations

import polars as pl

#: RTO of TCP (RFC 6298), PTO of QUIC (RFC 9002, section 6.2)
_EXPIRED = ("rto", "pto")


def timeouts(transport: pl.DataFrame, said: int | None) -> int | None:
    """RTOs of kernel TCP, PTOs of a QUIC stack; None where it is unknown.

    ``transport``: of one flow. ``said``: the stack's own count, if it keeps one. Kernel TCP's are
    its entries to the state "loss" (``tcp_enter_loss``); its tail loss probes are not among them.
    A log without a row "pto" tells nothing, for many stacks do not export their timers.
    """
    if said is not None:
        return said
    changes = transport.filter(pl.col("event") == "state")
    if changes.height:
        return changes.filter(pl.col("state") == "loss").height
    return transport.filter(pl.col("event").is_in(_EXPIRED)).height or None
