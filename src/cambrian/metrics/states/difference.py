"""Compare two state machines: times in state, and transitions that only one of them takes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from cambrian.metrics.states import vocabulary
from cambrian.metrics.states.machine import Machine, Transition
from cambrian.metrics.states.pooled import Pooled, pooled
from cambrian.stats import pairs, states
from cambrian.stats.compare import Comparison, compare
from cambrian.stats.correction import benjamini_hochberg
from cambrian.stats.interval import Interval
from cambrian.stats.jackknife import FEWEST_SEEDS
from cambrian.stats.states import State

Key = TypeVar("Key", bound=Hashable)
#: seed → its trials' machine, see :func:`~cambrian.metrics.states.machine.combined`
Arm = Mapping[int, Machine]


@dataclass(frozen=True)
class StateDifference:
    """One state: mean share of the time of either arm, and test − reference.

    The difference is over the seeds that both arms have, else of the means, and without bounds for fewer than
    three. ``verdict`` is the state of the difference, corrected over the states of this pair, or that
    seeds add no variation.
    """

    state: str
    test: float
    reference: float
    difference: Interval
    verdict: State


@dataclass(frozen=True)
class LeftOut:
    """A state of one arm, its mean share of that arm's time, and whether the arm is the test's."""

    state: str
    share: float
    is_test: bool


@dataclass(frozen=True)
class Difference:
    """Test against reference.

    ``time_distance`` and ``transition_distance``: total variation ½·Σ|p − q| ∈ [0, 1] between shares of
    the time, and between shares of the transitions taken; means over pairs of trials of different seeds.
    The latter is None where an arm has a trial without any transition. ``floor_*``: the same of the
    reference's trials among themselves, None for one trial. ``time_excess``: distance − floor, seeds
    left out one by one. ``only_test``: ways that at least half of the test's trials take and none of the
    reference's, of three seeds at least; ``only_reference`` the other way about.

    ``joined`` says which states were made one. ``left_out``: states that one arm is in, and the other's
    source cannot tell of. Shares are of the rest of the time, and there is no transition distance then.
    """

    states: tuple[StateDifference, ...]
    only_test: tuple[Transition, ...]
    only_reference: tuple[Transition, ...]
    time_distance: Interval
    floor_time_distance: float | None
    time_excess: Interval | None
    transition_distance: float | None
    floor_transition_distance: float | None
    test: Pooled
    reference: Pooled
    joined: Mapping[str, str]
    left_out: tuple[LeftOut, ...]


def difference(test: Arm, reference: Arm) -> Difference | None:
    """Compare two arms; None if one of them has no comparable trial."""
    if not test or not reference:
        return None
    left_out = (
        *_left_out(test, reference, is_test=True),
        *_left_out(reference, test, is_test=False),
    )
    joined = vocabulary.folding(
        _states(test),
        _states(reference),
        is_inferred=any(one.inferred_share > 0 for arm in (test, reference) for one in arm.values()),
    )
    if any(vocabulary.PROBE_RTT in one.uncertain for arm in (test, reference) for one in arm.values()):
        # where it is unknown, its time counts as ProbeBW's
        joined = {**joined, vocabulary.PROBE_RTT: vocabulary.PROBE_BW}
    ways = [_ways(arm, left_out, joined) for arm in (test, reference)]
    test, reference = _comparable(test, joined, left_out), _comparable(reference, joined, left_out)
    if not test or not reference:
        return None
    one, other = pooled(list(test.values())), pooled(list(reference.values()))
    scores = _time_scores(test, reference)
    floor = _time_scores(reference, reference) if len(reference) > 1 else None
    less = pairs.deficit(scores, floor)[0] if floor else None
    return Difference(
        states=tuple(_gaps(test, reference, one, other)),
        only_test=_only(one, other, ways[1]),
        only_reference=_only(other, one, ways[0]),
        time_distance=pairs.mean(scores),
        floor_time_distance=pairs.mean(floor).estimate if floor else None,
        time_excess=None if less is None else _negated(less),
        transition_distance=None if left_out else _mean_transitions(test, reference),
        floor_transition_distance=_mean_transitions(reference, reference) if floor else None,
        test=one,
        reference=other,
        joined=joined,
        left_out=left_out,
    )


def total_variation(one: Mapping[Key, float], other: Mapping[Key, float]) -> float:
    """½·Σ|p − q| of two distributions over the same kind of thing, in [0, 1]."""
    return 0.5 * math.fsum(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in {*one, *other})


def transition_shares(machine: Machine) -> dict[Transition, float] | None:
    """Each transition's share of all that were taken; None without a transition."""
    total = sum(machine.transitions.values())
    return {pair: count / total for pair, count in machine.transitions.items()} if total else None


def _states(arm: Arm) -> set[str]:
    return {state for machine in arm.values() for state in machine.time_ns}


def _left_out(arm: Arm, silent: Arm, *, is_test: bool) -> list[LeftOut]:
    """States that ``arm`` exports and that no trial of ``silent`` can observe."""
    unobservable = _unobservable(silent) - _unobservable(arm)
    found = []
    for state in vocabulary.order(unobservable & _states(arm)):
        share = sum(machine.shares.get(state, 0.0) for machine in arm.values()) / len(arm)
        found.append(LeftOut(state, share, is_test))
    return found


def _unobservable(arm: Arm) -> frozenset[str]:
    return frozenset.intersection(*(machine.unobservable for machine in arm.values()))


def _ways(arm: Arm, left_out: Sequence[LeftOut], joined: Mapping[str, str]) -> set[Transition]:
    """The transitions of all trials; one through a left-out state joins its neighbours."""
    ways = {way for machine in arm.values() for way in machine.transitions}
    for state in (one.state for one in left_out):
        before = {a for a, b in ways if b == state}
        after = {b for a, b in ways if a == state}
        ways = {way for way in ways if state not in way} | {(a, b) for a in before for b in after}
    return {(joined.get(a, a), joined.get(b, b)) for a, b in ways}


def _comparable(arm: Arm, joined: Mapping[str, str], left_out: Sequence[LeftOut]) -> Arm:
    states = {one.state for one in left_out}
    kept = {seed: machine.without(states).folded(joined) for seed, machine in arm.items()}
    # a state that was joined to the one that its time counts as is no longer uncertain
    return {
        seed: replace(machine, uncertain=machine.uncertain - joined.keys())
        for seed, machine in kept.items()
        if machine.time_ns
    }


def _gaps(test: Arm, reference: Arm, one: Pooled, other: Pooled) -> Iterator[StateDifference]:
    found = {
        state: _gap(state, test, reference)
        for state in vocabulary.order({*_states(test), *_states(reference)})
    }
    tested = [gap.p for gap in found.values() if gap.p is not None]
    adjusted = iter(benjamini_hochberg(tested).tolist())
    for state, gap in found.items():
        p = None if gap.p is None else float(next(adjusted))
        verdict = states.state(gap.difference, states.STATE_TIME, p)
        yield StateDifference(state, one.share(state), other.share(state), gap.difference, verdict)


def _gap(state: str, test: Arm, reference: Arm) -> Comparison:
    shares = [{seed: one.shares.get(state, 0.0) for seed, one in arm.items()} for arm in (test, reference)]
    return compare(shares[0], shares[1])


def _time_scores(test: Arm, reference: Arm) -> dict[tuple[int, int], float]:
    return {
        (a, b): total_variation(one.shares, other.shares)
        for a, one in test.items()
        for b, other in reference.items()
    }


def _mean_transitions(test: Arm, reference: Arm) -> float | None:
    shares = [{seed: transition_shares(one) for seed, one in arm.items()} for arm in (test, reference)]
    scores: dict[tuple[int, int], float] = {}
    for a, one in shares[0].items():
        for b, other in shares[1].items():
            if one is None or other is None:
                return None
            scores[a, b] = total_variation(one, other)
    return pairs.mean(scores).estimate


def _only(here: Pooled, other: Pooled, there: set[Transition]) -> tuple[Transition, ...]:
    """Transitions of ``here`` that the other arm lacks; one or two seeds are too few for such a statement."""
    if min(here.trials, other.trials) < FEWEST_SEEDS:
        return ()
    return tuple(
        rate.transition
        for rate in here.transitions
        if rate.transition not in there and 2 * rate.trials >= here.trials
    )


def _negated(found: Interval) -> Interval:
    return Interval(-found.estimate, -found.high, -found.low, found.confidence, found.n, found.method)
