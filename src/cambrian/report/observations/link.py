"""The network that a trial ran over, as the study states it."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from cambrian.report.collect import Cell
from cambrian.report.observations.column import Dtype, Row

#: ``buffer_bdp`` as written, null where the study gives bytes or packets; ``buffer_bytes`` as built.
#: ``rate_mbps`` is null for a link that follows a trace, ``schedule_steps`` counts what changes midway.
COLUMNS: Mapping[str, Dtype] = {
    "network": pl.String(),
    "rate_mbps": pl.Float64(),
    "rtt_ms": pl.Float64(),
    "forward_delay_percent": pl.Float64(),
    "loss_percent": pl.Float64(),
    "return_loss_percent": pl.Float64(),
    "burst_loss": pl.Boolean(),
    "loss_every_packets": pl.Int64(),
    "reorder_percent": pl.Float64(),
    "duplicate_percent": pl.Float64(),
    "jitter_ms": pl.Float64(),
    "buffer_bdp": pl.Float64(),
    "buffer_bytes": pl.Int64(),
    "queue": pl.String(),
    "ecn": pl.Boolean(),
    "trace": pl.Boolean(),
    "schedule_steps": pl.Int64(),
}
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
)


def row(cell: Cell) -> Row:
    """The group's network; its name is the study's, which a trial does not keep."""
    network = cell.network
    return {name: getattr(network, name) for name in _AS_THEY_ARE} | {
        "network": network.name,
        "burst_loss": network.burst_loss is not None,
        "buffer_bytes": cell.buffer_bytes,
        "trace": network.trace_file is not None,
        "schedule_steps": len(network.schedule),
    }
