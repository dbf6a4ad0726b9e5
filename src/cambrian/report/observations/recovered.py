"""What a flow's sender took for lost, and what was."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from cambrian.metrics.columns import FloatArray
from cambrian.report.measure import TrialMeasures
from cambrian.report.observations.column import Dtype, Row

#: Over the whole trial. ``spurious_losses``: declared beyond what the network dropped (kernel TCP:
#: retransmitted beyond it); ``spurious_loss_percent``: of the declared ones. ``queue_loss_episodes``:
#: runs of queue drops. ``redundant_percent``: of the bytes delivered, those that came twice.
COLUMNS: Mapping[str, Dtype] = {
    "declared_lost_packets": pl.Int64(),
    "dropped_packets": pl.Int64(),
    "spurious_losses": pl.Int64(),
    "spurious_loss_percent": pl.Float64(),
    "queue_loss_episodes": pl.Int64(),
    "reaction_p50_ms": pl.Float64(),
    "recovery_p50_ms": pl.Float64(),
    "redundant_percent": pl.Float64(),
    "goodput_percent": pl.Float64(),
    "timeouts": pl.Int64(),
}


def row(trial: TrialMeasures, number: int) -> Row:
    """One flow of one trial; null where it cannot be told (:mod:`cambrian.report.recovery`)."""
    one = trial.recoveries[number] if number < len(trial.recoveries) else None
    if one is None:
        return {}
    found: Row = {
        "queue_loss_episodes": one.episodes.count,
        "reaction_p50_ms": _median(one.episodes.reaction_ms),
        "recovery_p50_ms": _median(one.episodes.recovery_ms),
        "timeouts": one.timeouts,
    }
    if one.false_losses:
        declared = one.false_losses.declared
        found |= {
            "declared_lost_packets": declared,
            "dropped_packets": one.false_losses.dropped,
            "spurious_losses": one.false_losses.estimate,
            "spurious_loss_percent": 100 * one.false_losses.estimate / declared if declared else 0.0,
        }
    if one.redundancy:
        found["redundant_percent"] = one.redundancy.percent(one.redundancy.redundant_bytes)
        found["goodput_percent"] = one.redundancy.goodput_percent
    return found


def _median(values: FloatArray) -> float | None:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else None
