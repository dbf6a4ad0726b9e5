"""The difference of two state machines in words that a person can read."""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.metrics.states.difference import Difference, LeftOut, StateDifference
from cambrian.metrics.states.machine import Transition
from cambrian.metrics.states.vocabulary import words
from cambrian.stats import pairs

#: differences below this share of the time are not worth a sentence
_LEAST = 0.005
_MOST_STATES = 3
_MOST_WAYS = 3


def sentences(found: Difference, reference: str) -> list[str]:
    """What differs, largest first: ``spends 12 % of its time in recovery, tcp cubic 3 %``.

    A difference of time counts where its interval leaves out 0, or where there are too few trials
    for one, and where it is at least half a percent of the time.
    """
    apart = [
        one
        for one in found.states
        if abs(one.difference.estimate) >= _LEAST
        and (one.is_told_apart or one.difference.n < pairs.FEWEST_SEEDS)
        and percent(one.test) != percent(one.reference)
    ]
    apart.sort(key=lambda one: -round(abs(one.difference.estimate), 9))
    said = [_spends(one, reference) for one in apart[:_MOST_STATES]]
    if found.only_test:
        said.append(f"goes {_ways(found.only_test)}, which {reference} never does")
    if found.only_reference:
        said.append(f"never goes {_ways(found.only_reference)}, which {reference} does")
    said += [_cannot_tell(one, reference) for one in found.left_out]
    return said


def _spends(one: StateDifference, reference: str) -> str:
    return (
        f"spends {percent(one.test)} of its time in {words(one.state)}, {reference} {percent(one.reference)}"
    )


def _cannot_tell(one: LeftOut, reference: str) -> str:
    share = f"for {percent(one.share)} of the time"
    if one.is_test:
        return f"is in {words(one.state)} {share}, of which what {reference} exports cannot tell"
    return f"exports nothing that could tell of {words(one.state)}, in which {reference} is {share}"


def percent(share: float) -> str:
    """A share of the time as a person writes it: whole percents, tenths below ten."""
    value = 100 * share
    if value == 0:
        return "none"
    if value < 0.1:
        return "less than 0.1 %"
    return f"{value:.1f} %" if value < 9.95 or value > 99 else f"{value:.0f} %"


def _ways(transitions: Sequence[Transition]) -> str:
    named = [f"from {words(one)} to {words(other)}" for one, other in transitions[:_MOST_WAYS]]
    more = len(transitions) - len(named)
    if more:
        return ", ".join(named) + f" and {more} other way{'s' if more > 1 else ''}"
    return named[0] if len(named) == 1 else ", ".join(named[:-1]) + " and " + named[-1]
