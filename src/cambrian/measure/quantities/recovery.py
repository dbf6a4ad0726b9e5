"""Loss recovery of a flow: losses that its sender declared, and true losses; null if unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cambrian.measure.quantity import FLOAT, INTEGER, Quantity, of_hundred
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.columns import FloatArray
from cambrian.metrics.recovery import FlowRecovery


def _of(figure: Callable[[FlowRecovery], float | None]) -> Any:
    def value(trial: TrialMeasures, number: int) -> float | None:
        one = trial.recoveries[number] if number < len(trial.recoveries) else None
        return None if one is None else figure(one)

    return value


def _spurious_loss_percent(one: FlowRecovery) -> float | None:
    if not one.false_losses:
        return None
    declared = one.false_losses.declared
    return 100 * one.false_losses.estimate / declared if declared else 0.0


def _median(values: FloatArray) -> float | None:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else None


def _redundant_percent(one: FlowRecovery) -> float | None:
    return one.redundancy.percent(one.redundancy.redundant_bytes) if one.redundancy else None


QUANTITIES = (
    Quantity(
        "declared_lost_packets",
        "packets that the sender declared lost (TCP: retransmitted), over the whole trial",
        INTEGER,
        formula="Loss recovery",
        trial=_of(lambda one: one.false_losses.declared if one.false_losses else None),
    ),
    Quantity(
        "dropped_packets",
        "packets of the flow that the network dropped, over the whole trial; null if the sender exports no "
        "count of its losses, or if the network duplicates packets or changes its RTT; `queue_loss_percent` "
        "and `random_loss_percent` need no such count",
        INTEGER,
        formula="Loss recovery",
        trial=_of(lambda one: one.false_losses.dropped if one.false_losses else None),
    ),
    Quantity(
        "spurious_losses",
        "`declared_lost_packets` − `dropped_packets`; 0 if that is negative",
        INTEGER,
        formula="Loss recovery",
        trial=_of(lambda one: one.false_losses.estimate if one.false_losses else None),
    ),
    Quantity(
        "spurious_loss_percent",
        "`spurious_losses` in percent of `declared_lost_packets`",
        FLOAT,
        formula="Loss recovery",
        trial=_of(_spurious_loss_percent),
        ends=of_hundred,
    ),
    Quantity(
        "queue_loss_episodes",
        "runs of drops at the queue",
        INTEGER,
        formula="Loss recovery",
        trial=_of(lambda one: one.episodes.count),
    ),
    Quantity(
        "reaction_p50_ms",
        "median over the episodes: from the first drop to the first `loss`, `retransmit` or `rto` row of the "
        "stack's log, or entry to a recovery state, after the sender could know of the drop; null if the log "
        "may be late",
        FLOAT,
        formula="Loss recovery",
        trial=_of(lambda one: _median(one.episodes.reaction_ms)),
    ),
    Quantity(
        "recovery_p50_ms",
        "median over the episodes: from the first drop to the end of the recovery state; without a recovery "
        "state, to the window's next growth",
        FLOAT,
        formula="Loss recovery",
        trial=_of(lambda one: _median(one.episodes.recovery_ms)),
    ),
    Quantity(
        "redundant_percent",
        "bytes that came twice, in percent of the bytes delivered",
        FLOAT,
        formula="Loss recovery",
        trial=_of(_redundant_percent),
        ends=of_hundred,
    ),
    Quantity(
        "goodput_percent",
        "bytes that the application got, in percent of the bytes delivered as frames",
        FLOAT,
        heading="Goodput of throughput, %",
        formula="Loss recovery",
        trial=_of(lambda one: one.redundancy.goodput_percent if one.redundancy else None),
        ends=of_hundred,
    ),
    Quantity(
        "timeouts",
        "RTOs or PTOs, by the stack's own count; for a complete flow: those before its completion, by its "
        "log",
        INTEGER,
        heading="RTOs or PTOs",
        formula="Loss recovery",
        trial=_of(lambda one: one.timeouts),
    ),
)
