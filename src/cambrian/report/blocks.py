"""A group's trials by seed, the unit of every statistic. A seed has one trial for each order of its flows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cambrian.measure.trial import TrialMeasures
from cambrian.report.collect import Cell
from cambrian.stats import seeds


def by_seed(cell: Cell, value: Callable[[TrialMeasures], float | None]) -> dict[int, float]:
    """Seed → mean of ``value`` over its trials.

    A seed with an invalid trial, or with a trial without a value, is left out: its orders would not be
    balanced.
    """
    return seeds.by_seed(((trial.trial.seed, value(trial)) for trial in cell.trials), cell.orders)


def whole(cell: Cell) -> Mapping[int, Sequence[TrialMeasures]]:
    """Seed → its trials, for the seeds whose trials are all valid."""
    trials: dict[int, list[TrialMeasures]] = {}
    for trial in cell.trials:
        trials.setdefault(trial.trial.seed, []).append(trial)
    return {seed: mine for seed, mine in sorted(trials.items()) if len(mine) == cell.orders}


def position(cell: Cell, trial: TrialMeasures, flow: int) -> int:
    """The position of a flow, counted from the group's first position.

    A placebo has other positions than its reference, but the same relative ones.
    """
    return trial.trial.positions[flow] - min(min(one.trial.positions) for one in cell.trials)
