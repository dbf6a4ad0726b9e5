"""A group's trials by seed, the unit of every statistic: a seed has one trial for each order of its flows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from cambrian.report.collect import Cell
from cambrian.report.measure import TrialMeasures
from cambrian.stats import seeds


def orders(cell: Cell) -> int:
    """How many trials a seed of the group has: the most that any has, valid or not."""
    counts = [Counter(one.seed for one in cell.records), Counter(one.trial.seed for one in cell.trials)]
    return max((count for each in counts for count in each.values()), default=1)


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


def position(trial: TrialMeasures, flow: int) -> int:
    """Where in the testbed a flow of the trial sat, which decides when it started and what it lost."""
    positions: Sequence[int] | None = getattr(trial.trial, "positions", None)
    return positions[flow] if positions else flow
