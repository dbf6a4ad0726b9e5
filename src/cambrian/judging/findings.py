"""One parameter, measured on one network, beside what it should be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from cambrian.judging.references import Reference
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.metrics.parameters.estimate import Measured

#: ``as it should be``; ``other choice``: unlike the reference, and the standards allow it;
#: ``off``: unlike the standard; ``inconclusive``: the traces leave both open, or are too few to say;
#: ``not judged``: nothing says what it should be
Status = Literal["as it should be", "other choice", "off", "inconclusive", "not judged"]
#: differing trials that it takes to say that something is unlike the reference; networks count, too
FEWEST_TRIALS = 2
#: share of the trials in which a parameter must show
SHOWN_SHARE = 0.5
#: share of the events that must be of one kind
AGREEING_SHARE = 0.8


@dataclass(frozen=True)
class Finding:
    """A measured parameter and its judgement. ``network`` is where it was measured.

    ``why``: what makes it inconclusive, in words; ``few``: too few events. ``looks``: what it would
    be, had it been seen in another trial or on another network as well.
    """

    network: str
    measured: Measured
    reference: Reference | None
    status: Status
    why: str = ""
    looks: Literal["other choice", "off"] | None = None
    few: bool = False

    @property
    def key(self) -> str:
        """The parameter's."""
        return self.measured.parameter

    @property
    def differs(self) -> bool:
        """Is it unlike the reference, blamed or not?"""
        return self.status in ("off", "other choice")


def judge(network: str, measured: Measured, reference: Reference | None) -> Finding:
    """Is the interval inside what the reference allows, outside of it, or neither?

    An interval inside is as it should be. One outside differs if enough events in more than one
    trial say so. Everything else is inconclusive.
    """
    if reference is None:
        return Finding(network, measured, None, "not judged")
    found = Finding(network, measured, reference, "inconclusive")
    if why := _too_little(measured):
        return replace(found, why=why, few=measured.events < PARAMETERS[measured.parameter].fewest)
    if _agrees(measured, reference):
        return replace(found, status="as it should be")
    if not _excludes(measured, reference):
        return replace(found, why="the interval reaches from right to wrong values")
    differing = _differing(reference)
    if measured.trials < FEWEST_TRIALS:
        return replace(found, why="seen in one trial; a difference needs two", looks=differing)
    return replace(found, status=differing, looks=differing)


def _differing(reference: Reference) -> Literal["other choice", "off"]:
    return "off" if reference.binds else "other choice"


def confirmed(finding: Finding) -> Finding:
    """A finding that only lacked a second trial, now that another network shows the same."""
    return replace(finding, status=finding.looks, why="") if finding.looks is not None else finding


def open_(finding: Finding, why: str) -> Finding:
    """The same, inconclusive, for the reason given."""
    return replace(finding, status="inconclusive", why=why, looks=None)


def unjudged(finding: Finding) -> Finding:
    """The same without a judgement: what it should be does not hold here."""
    return Finding(finding.network, finding.measured, None, "not judged")


def _too_little(measured: Measured) -> str:
    """Why nothing can be said either way, whatever the value; empty where something can."""
    fewest = PARAMETERS[measured.parameter].fewest
    if measured.events < fewest:
        events = "event" if measured.events == 1 else "events"
        return f"{measured.events} {events}; a judgement needs {fewest}"
    of_trials = max(measured.of_trials, measured.trials)
    if measured.trials < SHOWN_SHARE * of_trials:
        return f"visible in only {measured.trials} of {of_trials} trials"
    if measured.agreement < AGREEING_SHARE:
        return (
            f"{100 * measured.agreement:.0f} % of its events agree; {100 * AGREEING_SHARE:.0f} % are needed"
        )
    return ""


def _agrees(measured: Measured, reference: Reference) -> bool:
    if reference.value is None:
        return measured.label == reference.words
    high_enough = reference.most or measured.low >= reference.value - reference.tolerance
    return high_enough and measured.high <= reference.value + reference.tolerance


def _excludes(measured: Measured, reference: Reference) -> bool:
    if reference.value is None:
        return measured.label != reference.words
    too_high = measured.low > reference.value + reference.tolerance
    too_low = measured.high < reference.value - reference.tolerance
    return too_high or (too_low and not reference.most)


def value_text(measured: Measured) -> str:
    """``0.85 ± 0.01``, or a kind's word."""
    parameter = PARAMETERS[measured.parameter]
    if parameter.kinds and measured.label is not None:
        return measured.label
    digits = parameter.digits
    half = (measured.high - measured.low) / 2
    unit = f" {parameter.unit}" if parameter.unit else ""
    # an interval that would read as ± 0 is shown with the digit that it has
    while digits < _MOST_DIGITS and half > 0 and round(half, digits) == 0:
        digits += 1
    return f"{measured.value:.{digits}f} ± {half:.{digits}f}{unit}"


#: more decimals than any parameter is known to
_MOST_DIGITS = 4


def reference_text(reference: Reference) -> str:
    """What it should be: ``0.7``, ``at most 10``, ``hystart``."""
    if reference.words is not None:
        return reference.words
    text = f"{reference.value:.3g}"
    return f"at most {text}" if reference.most else text


def sentence(finding: Finding) -> str:
    """One finding in words: what it is, what it should be, and by what source if it is off."""
    text = f"{PARAMETERS[finding.key].title} is {value_text(finding.measured)}"
    if finding.status == "inconclusive":
        return f"{text} ({finding.why})"
    if finding.reference is None or not finding.differs:
        return text
    should = reference_text(finding.reference)
    if finding.status == "off":
        return f"{text}; should be {should} ({finding.reference.source})"
    return f"{text} (the reference: {should})"
