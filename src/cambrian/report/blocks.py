"""A group's trials by seed, the unit of every statistic. A seed has one trial for each order of its flows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cambrian.measure.trial import TrialMeasures
from cambrian.report.collect import Cell
from cambrian.stats import seeds

#: (seed, position) → the figures of the flows there, one for each trial and flow
Places = Mapping[tuple[int, int], Sequence[float]]


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


def trials(cell: Cell) -> list[TrialMeasures]:
    """The trials of the seeds whose trials are all valid: each order of the flows counts as often."""
    return [trial for mine in whole(cell).values() for trial in mine]


def position(cell: Cell, trial: TrialMeasures, flow: int) -> int:
    """The position of a flow, counted from the group's first position.

    A placebo has other positions than its reference, but the same relative ones.
    """
    return trial.trial.positions[flow] - min(min(one.trial.positions) for one in cell.trials)


def by_position(
    cell: Cell, value: Callable[[TrialMeasures, int], float | None], flows: Sequence[int] = (0,)
) -> Places:
    """``value(trial, flow)`` of the seeds in which all of these flows have a value in all trials."""
    found: dict[tuple[int, int], list[float]] = {}
    for seed, trials in whole(cell).items():
        values = [(position(cell, trial, flow), value(trial, flow)) for trial in trials for flow in flows]
        known = [(place, one) for place, one in values if one is not None]
        if len(known) == len(values):
            for place, one in known:
                found.setdefault((seed, place), []).append(one)
    return found


def scatter(places: Places) -> float | None:
    """SD of a trial's figure between seeds, in the same position; None without two seeds.

    ``places`` has one flow of each trial. A virtual clock makes a seed's trials of a contestant beside itself
    copies of each other, with the flows exchanged: both flows would add nothing. Elsewhere their mean in one
    position would differ less than a trial's figure.
    """
    at: dict[int, list[float]] = {}
    for (_, place), values in places.items():
        at.setdefault(place, []).append(sum(values) / len(values))
    several = [np.array(values) for values in at.values() if len(values) > 1]
    if not several:
        return None
    squares = sum(float(np.square(values - values.mean()).sum()) for values in several)
    return math.sqrt(squares / sum(len(values) - 1 for values in several))
