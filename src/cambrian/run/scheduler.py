"""Which trials are run next, and when a group has had enough of them.

A group with a stopping rule is judged on its first 1, 2, 3… seeds, always in their order and never
on whichever trial ended first. So the trials that count are the same however many run at a time,
and after a run that was broken off. The price: past its least seeds a group runs one seed at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cambrian.run import measures
from cambrian.run.pool import Finished
from cambrian.stats import power, stopping
from cambrian.stats.stopping import Decision, StoppingRule
from cambrian.store.results import Results
from cambrian.study.model import Group, Stopping, Trial


@dataclass
class GroupProgress:
    """One group on its way through its seeds; ``names`` are its trials' identities.

    ``run`` seeds have been judged, in order, and ``values`` are those of the valid ones.
    """

    group: Group
    names: tuple[str, ...]
    run: int = 0
    values: list[float] = field(default_factory=list)
    decision: Decision = field(default_factory=lambda: Decision(False, "no trial yet", None))

    def wanted(self) -> tuple[str, ...]:
        """The identities of the trials that this group needs next; none once it has enough."""
        if self.group.stopping is None:
            return self.names
        if self.decision.stop:
            return ()
        more = _rule(self.group.stopping).surely_more(len(self.values), self.run)
        return self._of_seeds(self.run, self.run + more)

    def counted(self) -> tuple[str, ...]:
        """The identities of the trials that belong to the group's result, as far as is known."""
        if self.group.stopping is None:
            return self.names
        return (*self._of_seeds(0, self.run), *self.wanted())

    def possible(self) -> tuple[str, ...]:
        """The identities of the trials that the group may come to."""
        over = self.group.stopping is not None and self.decision.stop
        return self._of_seeds(0, self.run) if over else self.names

    def _of_seeds(self, first: int, end: int) -> tuple[str, ...]:
        """The identities of the trials of some seeds, counted from 0; ``end`` is not among them."""
        return self.names[first * self.group.orders : end * self.group.orders]

    def advance(self, results: Results, failed: Mapping[str, str]) -> None:
        """Judge what has come in, seed by seed, until the rule says stop or a trial is missing.

        ``failed``: identity → why a trial could not be run at all. Such a trial ends its group
        for this run; the next run tries it again.
        """
        if self.group.stopping is None:
            return
        rule = _rule(self.group.stopping)
        while not self.decision.stop:
            names = self._of_seeds(self.run, self.run + 1)
            failure = next((failed[name] for name in names if name in failed), None)
            if failure is not None:
                seed = self.group.trials[self.run * self.group.orders].seed
                why = f"seed {seed} could not be run: {failure}"
                self.decision = Decision(True, why, self.decision.interval)
            elif not all(results.has(name) for name in names):
                return
            else:
                value = _value(results, names, self.group)
                self.run += 1
                self.values += [] if value is None else [value]
                self.decision = rule.decide(self.values, self.run)

    def record(self) -> dict[str, Any] | None:
        """What was reached, for ``study.json``; None for a group without a rule."""
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
            "stopped": self.decision.stop,
            "narrow": self.decision.narrow,
            "reason": self.decision.reason,
        }

    def __str__(self) -> str:
        """``KEY: 12 seeds, median throughput 9.3 Mbps [9.1, 9.6]; narrow enough: ± 0.3 against 0.5``."""
        if self.group.stopping is None:
            return f"{self.group.key}: {len(self.names)} trials"
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
    """The mean over a seed's trials; None where one of them is invalid or has no value."""
    assert group.stopping is not None
    found = []
    for name in names:
        result = results.trial(name)
        value = measures.of(result, group.stopping.measure, group.measured_from_s)
        if not result.verdict["valid"] or value is None:
            return None
        found.append(value)
    return math.fsum(found) / len(found)


class Scheduler:
    """All groups of a run: what to start with, and what follows each trial's end."""

    def __init__(self, groups: Sequence[Group], names: Mapping[int, str], results: Results) -> None:
        """``names``: id(trial) → identity. Results that are there already are judged at once."""
        self.groups = [
            GroupProgress(group, tuple(names[id(trial)] for trial in group.trials)) for group in groups
        ]
        self._results = results
        self._names = names
        self._there = {name for name in set(names.values()) if results.has(name)}
        self._failed: dict[str, str] = {}
        self._asked: set[str] = set()
        self._of: dict[str, list[GroupProgress]] = {}
        for progress in self.groups:
            for name in progress.names:
                self._of.setdefault(name, []).append(progress)
            progress.advance(results, self._failed)

    def first(self) -> dict[str, Trial]:
        """Label → trial of those that are needed in any case and are not there."""
        return dict(self._missing(self.groups))

    def after(self, finished: Finished) -> dict[str, Trial]:
        """Label → trial of those that are needed now that this one has ended."""
        name = self._names[id(finished.trial)]
        if finished.error is not None:
            self._failed[name] = finished.error
        for progress in self._of[name]:
            progress.advance(self._results, self._failed)
        return dict(self._missing(self._of[name]))

    def at_most(self) -> int:
        """How many trials this run may come to, those that have ended included; falls as groups stop."""
        possible = {name for progress in self.groups for name in progress.possible()}
        return len((possible | self._asked) - self._there)

    @property
    def adaptive(self) -> bool:
        """Does a rule decide how many trials are run?"""
        return any(progress.group.stopping for progress in self.groups)

    def undecided(self) -> int:
        """How many groups may still ask for trials by their rules."""
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
                if name not in self._asked and not self._results.has(name):
                    self._asked.add(name)
                    yield _label(progress.group, trials[name]), trials[name]


def _label(group: Group, trial: Trial) -> str:
    if group.orders == 1:
        return f"{group.key} seed {trial.seed}"
    return f"{group.key} seed {trial.seed} positions {' '.join(map(str, trial.positions))}"
