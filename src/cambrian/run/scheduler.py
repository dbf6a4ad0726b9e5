"""Decides which trials run next, and when a group stops.

A stopping rule looks at a group's first 1, 2, 3… seeds, always in the order of the seeds and not in
the order in which trials end. So the trials that count do not depend on the number of parallel jobs,
nor on interruptions. The cost: after its minimum number of seeds a group runs one seed at a time.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cambrian.run import measures
from cambrian.run.pool import Finished
from cambrian.stats import power, stopping
from cambrian.stats.stopping import Decision, StoppingRule
from cambrian.store.results import Results
from cambrian.study.model import Group, Stopping, Trial


def counted_trials(count: int) -> str:
    """``1 trial``, ``2 trials``."""
    return f"{count} trial{'' if count == 1 else 's'}"


@dataclass
class GroupProgress:
    """The state of one group; ``names`` are the identities of its trials.

    ``run`` is the number of seeds that have been judged, ``values`` has the measures of the valid ones.
    """

    group: Group
    names: tuple[str, ...]
    run: int = 0
    values: list[float] = field(default_factory=list)
    decision: Decision = field(default_factory=lambda: Decision(False, "no trial yet", None))
    #: a trial could not run, so the rule decided nothing
    broken: bool = False

    def wanted(self) -> tuple[str, ...]:
        """The identities of the trials that this group needs next; empty when it has stopped."""
        if self.group.stopping is None:
            return self.names
        if self.decision.stop:
            return ()
        more = _rule(self.group.stopping).surely_more(len(self.values), self.run)
        return self._of_seeds(self.run, self.run + more)

    def counted(self) -> tuple[str, ...]:
        """The identities of the trials that belong to the group's result, as known so far."""
        if self.group.stopping is None:
            return self.names
        return (*self._of_seeds(0, self.run), *self.wanted())

    def possible(self) -> tuple[str, ...]:
        """The identities of all trials that the group may still run or has run."""
        over = self.group.stopping is not None and self.decision.stop
        return self._of_seeds(0, self.run) if over else self.names

    def _of_seeds(self, first: int, end: int) -> tuple[str, ...]:
        """The identities of the trials of the seeds ``first`` to ``end`` - 1, counted from 0."""
        return self.names[first * self.group.orders : end * self.group.orders]

    def advance(self, results: Results, failed: Mapping[str, str], damaged: Collection[str] = ()) -> None:
        """Judge the finished trials seed by seed, until the rule stops the group or a trial is missing.

        ``failed``: identity → the error that prevented a trial. Such a trial ends its group
        for this run; the next run repeats it. ``damaged``: identities whose results do not count.
        """
        if self.group.stopping is None:
            return
        rule = _rule(self.group.stopping)
        while not self.decision.stop:
            names = self._of_seeds(self.run, self.run + 1)
            failure = next((failed[name] for name in names if name in failed), None)
            if failure is not None:
                seed = self.group.trials[self.run * self.group.orders].seed
                why = f"seed {seed} could not run: {failure}"
                self.decision = Decision(True, why, self.decision.interval)
                self.broken = True
            elif not all(results.has(name) and name not in damaged for name in names):
                return
            else:
                value = _value(results, names, self.group)
                self.run += 1
                self.values += [] if value is None else [value]
                self.decision = rule.decide(self.values, self.run)

    def record(self) -> dict[str, Any] | None:
        """The state of the stopping rule, for ``study.json``; None for a group without a rule."""
        if self.group.stopping is None:
            return None
        interval = self.decision.interval
        low, high = (interval.low, interval.high) if interval else (math.nan, math.nan)
        return {
            "measure": self.group.stopping.measure,
            "half_width": self.group.stopping.half_width,
            "seeds": self.run,
            "valid": len(self.values),
            "median": interval.estimate if interval else None,
            "low": low if math.isfinite(low) else None,
            "high": high if math.isfinite(high) else None,
            "stopped": self.decision.stop and not self.broken,
            "narrow": self.decision.narrow,
            "reason": self.decision.reason,
        }

    def __str__(self) -> str:
        """``KEY: 12 seeds, median throughput 9.3 Mbps [9.1, 9.6]; narrow enough: ± 0.3 against 0.5``."""
        if self.group.stopping is None:
            return f"{self.group.key}: {counted_trials(len(self.names))}"
        measure, interval = self.group.stopping.measure, self.decision.interval
        unit = measures.UNITS[measure]
        text = f"{self.group.key}: {self.run} seeds"
        if interval is not None:
            text += f", median {measures.NAMES[measure]} {interval.estimate:.4g} {unit}"
            text += f" [{interval.low:.4g}, {interval.high:.4g}]" if math.isfinite(interval.low) else ""
        text += f"; {self.decision.reason}"
        if interval is not None and not self.decision.narrow and math.isfinite(stopping.longer_arm(interval)):
            text += f" ({power.to_shrink(interval, self.group.stopping.half_width, unit).sentence})"
        return text


def _rule(asked: Stopping) -> StoppingRule:
    return StoppingRule(asked.min_seeds, asked.max_seeds, asked.half_width)


def _value(results: Results, names: Sequence[str], group: Group) -> float | None:
    """The mean over a seed's trials; None if one of them is invalid or has no value."""
    assert group.stopping is not None
    values = []
    for name in names:
        result = results.trial(name)
        # nothing can be measured of a guest that was cut off or crashed
        if not result.verdict["valid"]:
            return None
        value = measures.value(result, group.stopping.measure, group.measured_from_s)
        if value is None:
            return None
        values.append(value)
    return math.fsum(values) / len(values)


class Scheduler:
    """All groups of a run: the first trials, and the trials that follow each trial's end."""

    def __init__(
        self,
        groups: Sequence[Group],
        names: Mapping[int, str],
        results: Results,
        damaged: Collection[str] = (),
    ) -> None:
        """``names``: id(trial) → identity. Results that exist already are judged here.

        ``damaged``: identities whose results cannot be used; these trials run again.
        """
        self.groups = [
            GroupProgress(group, tuple(names[id(trial)] for trial in group.trials)) for group in groups
        ]
        self._results = results
        self._names = names
        self._damaged = set(damaged)
        self._there = {name for name in set(names.values()) if self.has(name)}
        self._failed: dict[str, str] = {}
        self._asked: set[str] = set()
        self._of: dict[str, list[GroupProgress]] = {}
        for progress in self.groups:
            for name in progress.names:
                self._of.setdefault(name, []).append(progress)
            progress.advance(results, self._failed, self._damaged)

    def has(self, name: str) -> bool:
        """Whether this trial has results that can be used."""
        return name not in self._damaged and self._results.has(name)

    def first(self) -> dict[str, Trial]:
        """Label → trial of the trials that are needed and have no results."""
        return dict(self._missing(self.groups))

    def after(self, finished: Finished) -> dict[str, Trial]:
        """Label → trial of the trials that are needed after this one has ended."""
        name = self._names[id(finished.trial)]
        if finished.error is not None:
            self._failed[name] = finished.error
        self.note(finished)
        for progress in self._of[name]:
            progress.advance(self._results, self._failed, self._damaged)
        return dict(self._missing(self._of[name]))

    def note(self, finished: Finished) -> None:
        """Count a trial whose earlier results were damaged, now that it has new ones."""
        if finished.error is None:
            self._damaged.discard(self._names[id(finished.trial)])

    def at_most(self) -> int:
        """Upper bound for the number of trials of this run, ended ones included; falls when groups stop."""
        possible = {name for progress in self.groups for name in progress.possible()}
        return len((possible | self._asked) - self._there)

    @property
    def adaptive(self) -> bool:
        """Does a rule decide how many trials are run?"""
        return any(progress.group.stopping for progress in self.groups)

    def undecided(self) -> int:
        """Number of groups with a stopping rule that have not stopped."""
        return sum(
            progress.group.stopping is not None and not progress.decision.stop for progress in self.groups
        )

    def counted(self) -> dict[str, str]:
        """Identity → label of every trial that belongs to a group's result."""
        return {
            name: _label(progress.group, trial)
            for progress in self.groups
            for name, trial in zip(progress.counted(), progress.group.trials, strict=False)
        }

    def _missing(self, groups: Sequence[GroupProgress]) -> Iterator[tuple[str, Trial]]:
        for progress in groups:
            trials = dict(zip(progress.names, progress.group.trials, strict=True))
            for name in progress.wanted():
                if name not in self._asked and not self.has(name):
                    self._asked.add(name)
                    yield _label(progress.group, trials[name]), trials[name]


def _label(group: Group, trial: Trial) -> str:
    if group.orders == 1:
        return f"{group.key} seed {trial.seed}"
    return f"{group.key} seed {trial.seed} positions {' '.join(map(str, trial.positions))}"
