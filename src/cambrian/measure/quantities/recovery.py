"""Loss recovery of a flow: losses that its sender declared, and true losses; null if unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cambrian.measure.quantity import FLOAT, INTEGER, Quantity
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
        "what the sender took for lost (TCP: retransmitted), over the whole trial",
        INTEGER,
        formula="Loss recovery",
        trial=_of(lambda one: one.false_losses.declared if one.false_losses else None),
    ),
    Quantity(
        "dropped_packets",
        "what the network dropped of them",
        INTEGER,
        formula="Loss recovery",
        trial=_of(lambda one: one.false_losses.dropped if one.false_losses else None),
    ),
    Quantity(
        "spurious_losses",
        "declared lost (TCP: retransmitted) beyond dropped",
        INTEGER,
        formula="Loss recovery",
        trial=_of(lambda one: one.false_losses.estimate if one.false_losses else None),
    ),
    Quantity(
        "spurious_loss_percent",
        "of the declared",
        FLOAT,
        formula="Loss recovery",
        trial=_of(_spurious_loss_percent),
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
        "from when the sender could know of a loss to the fall of its flight, median",
        FLOAT,
        formula="Loss recovery",
        trial=_of(lambda one: _median(one.episodes.reaction_ms)),
    ),
    Quantity(
        "recovery_p50_ms",
        "from the loss to its repair, median",
        FLOAT,
        formula="Loss recovery",
        trial=_of(lambda one: _median(one.episodes.recovery_ms)),
    ),
    Quantity(
        "redundant_percent",
        "of the bytes delivered, those that came twice",
        FLOAT,
        formula="Loss recovery",
        trial=_of(_redundant_percent),
    ),
    Quantity(
        "goodput_percent",
        "of the throughput, what the application got",
        FLOAT,
        heading="Goodput of throughput, %",
        formula="Loss recovery",
        trial=_of(lambda one: one.redundancy.goodput_percent if one.redundancy else None),
    ),
    Quantity(
        "timeouts",
        "RTOs or PTOs, by the stack's own count; of a complete flow those until then, by its log",
        INTEGER,
        heading="RTOs or PTOs",
        formula="Loss recovery",
        trial=_of(lambda one: one.timeouts),
    ),
)
