"""State machines pooled over several trials: the trial is the unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cambrian.metrics.states import vocabulary
from cambrian.metrics.states.machine import Machine, Source, Transition
from cambrian.stats import jackknife
from cambrian.stats.interval import Interval


@dataclass(frozen=True)
class StateShare:
    """One state over trials: mean ``share`` of the time in [0, 1], and entries per second."""

    state: str
    share: Interval
    entries_per_s: float


@dataclass(frozen=True)
class TransitionRate:
    """One transition over trials: ``count`` in all, mean rate, and how many ``trials`` have it."""

    transition: Transition
    count: int
    per_s: float
    trials: int


@dataclass(frozen=True)
class Pooled:
    """The state machine of some trials."""

    trials: int
    states: tuple[StateShare, ...]
    transitions: tuple[TransitionRate, ...]
    source: Source

    def share(self, state: str) -> float:
        """Mean share of the time in ``state``; 0 for a state that never occurred."""
        return next((one.share.estimate for one in self.states if one.state == state), 0.0)


def pooled(machines: Sequence[Machine]) -> Pooled:
    """The machine of at least one trial's machines.

    Raises:
        ValueError: ``machines`` is empty.
    """
    if not machines:
        raise ValueError("give at least one trial's machine")
    # where the window may hide a state, its time counts as another one's
    shares = [one.shares for one in machines if not one.uncertain] or [one.shares for one in machines]
    states = vocabulary.order(state for machine in machines for state in machine.shares)
    found = sorted(
        {transition for machine in machines for transition in machine.transitions},
        key=lambda pair: (states.index(pair[0]), states.index(pair[1])),
    )
    return Pooled(
        trials=len(machines),
        states=tuple(
            StateShare(
                state,
                mean([share.get(state, 0.0) for share in shares]),
                _average(machines, found, into=state),
            )
            for state in states
        ),
        transitions=tuple(
            TransitionRate(
                transition,
                sum(machine.transitions.get(transition, 0) for machine in machines),
                sum(machine.per_s(transition) for machine in machines) / len(machines),
                sum(transition in machine.transitions for machine in machines),
            )
            for transition in found
        ),
        source=_source(machines),
    )


def mean(values: Sequence[float]) -> Interval:
    """Mean of one share per seed; no bounds with fewer than three seeds."""
    return jackknife.mean(dict(enumerate(values)), "share")


def _average(machines: Sequence[Machine], transitions: Sequence[Transition], *, into: str) -> float:
    entering = [pair for pair in transitions if pair[1] == into]
    return sum(machine.per_s(pair) for machine in machines for pair in entering) / len(machines)


def _source(machines: Sequence[Machine]) -> Source:
    sources = {machine.source for machine in machines}
    return sources.pop() if len(sources) == 1 else "partly inferred"
