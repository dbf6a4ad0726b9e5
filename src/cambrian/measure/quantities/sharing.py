"""How the flows of a trial share the bottleneck over time: starvation, pauses, convergence."""

from __future__ import annotations

from cambrian.measure.quantity import Quantity, of_hundred, percent
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics import pauses
from cambrian.metrics.columns import NS_PER_MS, NS_PER_S
from cambrian.metrics.convergence import Convergence
from cambrian.metrics.starvation import Starvation


def _spells(trial: TrialMeasures, number: int) -> Starvation | None:
    return trial.sharing.starvation[number] if trial.sharing and trial.sharing.starvation else None


def _join(trial: TrialMeasures, number: int) -> Convergence | None:
    joins = trial.sharing.joins if trial.sharing else ()
    return next((join for join in joins if join.flow == number), None)


def _starved_percent(trial: TrialMeasures, number: int) -> float | None:
    spells = _spells(trial, number)
    return percent(spells.share_of_time) if spells else None


def _longest_starved_s(trial: TrialMeasures, number: int) -> float | None:
    spells = _spells(trial, number)
    return spells.longest_ns / NS_PER_S if spells else None


def _convergence_s(trial: TrialMeasures, number: int) -> float | None:
    join = _join(trial, number)
    return None if join is None or join.time_ns is None else join.time_ns / NS_PER_S


def _convergence_observed_s(trial: TrialMeasures, number: int) -> float | None:
    join = _join(trial, number)
    return join.observed_ns / NS_PER_S if join else None


QUANTITIES = (
    Quantity(
        "starved_percent",
        "windows of time in which the flow had less than 10 % of its fair share, in percent of all windows",
        formula="Sharing over time",
        trial=_starved_percent,
        ends=of_hundred,
    ),
    Quantity(
        "longest_starved_s",
        "longest run of such windows",
        formula="Sharing over time",
        trial=_longest_starved_s,
    ),
    Quantity(
        "longest_pause_ms",
        "longest time in the measured interval in which none of its packets with data left the bottleneck",
        window=lambda window: (
            pauses.longest_pause_ns(window.packets, window.number, *window.span_ns) / NS_PER_MS
        ),
    ),
    Quantity(
        "convergence_s",
        "time from this flow's start to convergence; null: not within `convergence_observed_s`, or it does "
        "not join others",
        formula="Sharing over time",
        trial=_convergence_s,
    ),
    Quantity(
        "convergence_observed_s",
        "how long that was watched",
        formula="Sharing over time",
        trial=_convergence_observed_s,
    ),
)
