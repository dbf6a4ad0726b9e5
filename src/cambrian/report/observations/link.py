"""The network of a trial, as the study defines it."""

from __future__ import annotations

from cambrian.report.collect import Cell
from cambrian.report.layout import Row

_AS_THEY_ARE = (
    "rate_mbps",
    "rtt_ms",
    "forward_delay_percent",
    "loss_percent",
    "return_loss_percent",
    "loss_every_packets",
    "reorder_percent",
    "duplicate_percent",
    "jitter_ms",
    "buffer_bdp",
    "queue",
    "ecn",
    "offload",
)


def row(cell: Cell) -> Row:
    """The columns of the group's network. The name is the study's: a trial does not keep it."""
    network = cell.network
    return {name: getattr(network, name) for name in _AS_THEY_ARE} | {
        "network": network.name,
        "burst_loss": network.burst_loss is not None,
        "buffer_bytes": cell.buffer_bytes,
        "trace": network.trace_file is not None,
        "schedule_steps": len(network.schedule),
    }
