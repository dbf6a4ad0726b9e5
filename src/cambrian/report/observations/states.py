"""In which states a flow's controller spent its time, and how often it answered a loss."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cambrian.metrics.states import vocabulary
from cambrian.metrics.states.machine import Machine
from cambrian.report.measure import TrialMeasures
from cambrian.report.observations.column import Dtype, Row, percent

_STATE = "state."
_ANSWERS = {vocabulary.RECOVERY, vocabulary.RETRANSMISSION_TIMEOUT}


def row(trial: TrialMeasures, number: int) -> Row:
    """``state.NAME_percent`` of the flow's time; 0 for a state never entered, null for one it cannot tell.

    ``states_source``: whose words these are. ``loss_events``: how often recovery was entered, by a loss
    or a timeout; null for BBR, whose states are not about losses.
    """
    machine = trial.machines[number] if number < len(trial.machines) else None
    if machine is None:
        return {}
    cca = trial.trial.flows[number].contestant.cca
    found: Row = {_column(state): _share(machine, state) for state in {*vocabulary.STATES, *machine.time_ns}}
    return found | {"states_source": machine.source, "loss_events": _loss_events(machine, cca)}


def columns(rows: Sequence[Row]) -> dict[str, Dtype]:
    """Every state of the vocabulary, and those that no vocabulary has where a flow was in one."""
    named = {key for row in rows for key in row if key.startswith(_STATE)}
    ours = [_column(state) for state in vocabulary.STATES]
    found: dict[str, Dtype] = {"states_source": pl.String(), "loss_events": pl.Int64()}
    return found | dict.fromkeys([*ours, *sorted(named - set(ours))], pl.Float64())


def _column(state: str) -> str:
    return f"{_STATE}{state}_percent"


def _share(machine: Machine, state: str) -> float | None:
    if state in machine.untold:
        return None
    return percent(machine.shares.get(state, 0.0))


def _loss_events(machine: Machine, cca: str) -> int | None:
    if vocabulary.family(cca) == "bbr" or vocabulary.RECOVERY in machine.untold:
        return None
    return sum(
        count
        for (before, after), count in machine.transitions.items()
        if after in _ANSWERS and before not in _ANSWERS
    )
