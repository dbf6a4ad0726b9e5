"""A group's trials by seed, the unit of every statistic: a seed has one trial for each order of its flows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cambrian.measure.trial import TrialMeasures
from cambrian.report.collect import Cell
from cambrian.stats import seeds


def orders(cell: Cell) -> int:
    """How many trials a seed of the group has when it is whole."""
    return cell.orders


def by_seed(cell: Cell, value: Callable[[TrialMeasures], float | None]) -> dict[int, float]:
    """Seed → mean of ``value`` over its trials.

    A seed of which a trial is not valid or has no value is left out: the order that is missing would not
    be balanced by its mirror.
    """
    return seeds.by_seed(((one.trial.seed, value(one)) for one in cell.trials), orders(cell))


def whole(cell: Cell) -> Mapping[int, Sequence[TrialMeasures]]:
    """Seed → its trials, of the seeds whose trials are all valid."""
    found: dict[int, list[TrialMeasures]] = {}
    for one in cell.trials:
        found.setdefault(one.trial.seed, []).append(one)
    count = orders(cell)
    return {seed: mine for seed, mine in sorted(found.items()) if len(mine) == count}


def position(cell: Cell, trial: TrialMeasures, flow: int) -> int:
    """Where among the group's positions a flow of the trial sat, counted from the group's first.

    A placebo's positions are others than its reference's, and stand for the same places.
    """
    return trial.trial.positions[flow] - min(min(one.trial.positions) for one in cell.trials)
