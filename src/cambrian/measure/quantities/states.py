"""Time that a flow's controller spent in each state, and its number of loss events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cambrian.measure.quantity import INTEGER, TEXT, Quantity, of_hundred, percent
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.states import vocabulary
from cambrian.metrics.states.machine import Machine

_ANSWERS = {vocabulary.RECOVERY, vocabulary.RETRANSMISSION_TIMEOUT}
#: a column a state; ``{}`` is its name
COLUMN = "state.{}_percent"


def _machine(trial: TrialMeasures, number: int) -> Machine | None:
    return trial.machines[number] if number < len(trial.machines) else None


def unforeseen(trial: TrialMeasures, number: int) -> dict[str, float | None]:
    """Shares of the time in states that no vocabulary has: column → percent."""
    machine = _machine(trial, number)
    if machine is None:
        return {}
    return {
        COLUMN.format(state): _share(machine, state)
        for state in sorted(set(machine.time_ns) - set(vocabulary.STATES))
    }


def _source(trial: TrialMeasures, number: int) -> str | None:
    machine = _machine(trial, number)
    return machine.source if machine else None


def _loss_events(trial: TrialMeasures, number: int) -> int | None:
    machine, cca = _machine(trial, number), trial.trial.flows[number].contestant.cca
    if machine is None or vocabulary.family(cca) == "bbr" or vocabulary.RECOVERY in machine.unobservable:
        return None
    return sum(
        count
        for (before, after), count in machine.transitions.items()
        if after in _ANSWERS and before not in _ANSWERS
    )


def _share(machine: Machine, state: str) -> float | None:
    if state in machine.unobservable | machine.uncertain:
        return None
    return percent(machine.shares.get(state, 0.0))


def _share_of(state: str) -> Callable[[TrialMeasures, int], Any]:
    def value(trial: TrialMeasures, number: int) -> float | None:
        machine = _machine(trial, number)
        return None if machine is None else _share(machine, state)

    return value


QUANTITIES = (
    Quantity(
        "states_source",
        "whose words the states are: exported, inferred, partly inferred",
        TEXT,
        formula="State machines",
        trial=_source,
    ),
    Quantity(
        "loss_events",
        "entries to recovery or RTO state; null for BBR and without trace",
        INTEGER,
        formula="State machines",
        trial=_loss_events,
    ),
    *(
        Quantity(
            COLUMN.format(state),
            "share of the time until the flow's end in this state; 0: never entered, null: the trace cannot "
            "tell, or there is none",
            formula="State machines",
            trial=_share_of(state),
            ends=of_hundred,
        )
        for state in vocabulary.STATES
    ),
)
