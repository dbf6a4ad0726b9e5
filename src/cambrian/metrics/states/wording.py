"""Describe the difference of two state machines in words."""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.metrics.states.difference import Difference, LeftOut, StateDifference
from cambrian.metrics.states.machine import Transition
from cambrian.metrics.states.vocabulary import words
from cambrian.stats.states import SAME, STATE_TIME

#: beginning of a sentence for an inconclusive comparison
INCONCLUSIVE = "is inconclusive"
_MOST_STATES = 3
_MOST_WAYS = 3


def sentences(found: Difference, reference: str) -> list[str]:
    """What differs, largest first: ``spends 12 % of its time in recovery, tcp cubic 3 %``.

    A difference of time counts if its state is "different", or if every seed gave the same value beyond the
    margin of half a percent of the time. If no difference counts and some are inconclusive, one sentence
    says so.
    """
    apart = [
        one
        for one in found.states
        if one.verdict == "different" or (one.verdict == SAME and not _within(one))
    ]
    apart.sort(key=lambda one: -round(abs(one.difference.estimate), 9))
    said = [_spends(one, reference) for one in apart[:_MOST_STATES]]
    if found.only_test:
        said.append(f"goes {_ways(found.only_test)}, which {reference} never does")
    if found.only_reference:
        said.append(f"never goes {_ways(found.only_reference)}, which {reference} does")
    said += [_cannot_tell(one, reference) for one in found.left_out]
    open_states = [words(one.state) for one in found.states if one.verdict == "inconclusive"]
    if not said and open_states:
        said.append(f"{INCONCLUSIVE} in {', '.join(open_states)}")
    return said


def _within(one: StateDifference) -> bool:
    return STATE_TIME.low <= one.difference.estimate <= STATE_TIME.high


def _spends(one: StateDifference, reference: str) -> str:
    same = f" ({SAME})" if one.verdict == SAME else ""
    mine, its = percent(one.test), percent(one.reference)
    if mine == its:
        mine, its = (f"{100 * share:.1f} %" for share in (one.test, one.reference))
    return f"spends {mine} of its time in {words(one.state)}, {reference} {its}{same}"


def _cannot_tell(one: LeftOut, reference: str) -> str:
    share = f"for {percent(one.share)} of the time"
    if one.is_test:
        return f"is in {words(one.state)} {share}, a state that the log of {reference} cannot show"
    return f"has a log that cannot show {words(one.state)}, the state of {reference} {share}"


def percent(share: float) -> str:
    """A share of the time in percent: whole numbers from ten, tenths below."""
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
