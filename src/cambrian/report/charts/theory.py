"""Predictions of theory for a single kernel TCP flow under random loss, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from cambrian.metrics import theory

#: payload bytes of a full segment with timestamps: IP 1,500 minus 20 minus 32; bytes of its frame (IP + 14)
PAYLOAD_BYTES = 1448
FRAME_BYTES = 1514
#: quantity → bytes of a segment that it counts
SEGMENT_BYTES = {"throughput_mbps": FRAME_BYTES, "payload_mbps": PAYLOAD_BYTES}

WORDS = (
    "Predictions: Mathis et al. (1997), 1.22/√p segments per round trip for Reno; RFC 9438 (sections 4.3 and "
    "5) for CUBIC, the larger of its cubic region’s mean and Reno’s. They use the base RTT, without "
    "queueing, and count the same bytes as the measured figure. Link-limited: the prediction exceeds the "
    "link’s rate, so the model does not apply."
)


@dataclass(frozen=True)
class Prediction:
    """Throughputs in Mbps of the quantity's bytes; None without random loss. ``limit_mbps`` is the link's."""

    mathis_mbps: float | None
    rfc9438_mbps: float | None
    limit_mbps: float


def predict(rate_mbps: float, rtt_ms: float, loss_percent: float, segment_bytes: int) -> Prediction:
    """Mean throughput of Reno and of CUBIC for this loss and base RTT."""
    limit = rate_mbps * segment_bytes / FRAME_BYTES
    if loss_percent <= 0 or rtt_ms <= 0:
        return Prediction(None, None, limit)
    loss, rtt_s = loss_percent / 100, rtt_ms / 1000
    reno, cubic = theory.reno_window_segments(loss), theory.cubic_average_window_segments(loss, rtt_s)
    return Prediction(
        theory.window_rate_mbps(reno, segment_bytes, rtt_s),
        theory.window_rate_mbps(cubic, segment_bytes, rtt_s),
        limit,
    )


def predictions(frame: pl.DataFrame, keys: Sequence[str], quantity: str) -> pl.DataFrame:
    """``keys``, ``mathis_mbps``, ``rfc9438_mbps`` and ``limit_mbps`` of each cell of kernel TCP.

    Only cells whose observations are all single kernel TCP flows with one rate, RTT and loss.
    Empty if the quantity is no throughput.
    """
    names = ("mathis_mbps", "rfc9438_mbps", "limit_mbps")
    schema = {name: frame.schema[name] for name in keys} | dict.fromkeys(names, pl.Float64())
    link = ("rate_mbps", "rtt_ms", "loss_percent")
    if quantity not in SEGMENT_BYTES or not {*link, "stack", "flows"} <= set(frame.columns):
        return pl.DataFrame(schema=schema)
    lone = frame.group_by(keys, maintain_order=True).agg(
        *(pl.col(name).first().alias(f"__{name}") for name in link),
        ((pl.col("stack") == "tcp") & (pl.col("flows") == 1)).all().alias("__tcp"),
        pl.all_horizontal(pl.col(name).n_unique() == 1 for name in link).alias("__one"),
    )
    rows = []
    for row in lone.filter(pl.col("__tcp") & pl.col("__one")).drop_nulls("__rate_mbps").to_dicts():
        rate_mbps, rtt_ms, loss_percent = (float(row[f"__{name}"] or 0) for name in link)
        found = predict(rate_mbps, rtt_ms, loss_percent, SEGMENT_BYTES[quantity])
        rows.append({name: row[name] for name in keys} | {name: getattr(found, name) for name in names})
    return pl.DataFrame(rows, schema=schema)


def text(predicted: float | None, limit: float | None, digits: int = 2) -> str:
    """A prediction for a table: a number, or ``link-limited``."""
    if limit is None:
        return "–"
    return "link-limited" if predicted is None or predicted > limit else f"{predicted:.{digits}f}"
