"""Compare one parameter, measured on one network, with its reference value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cambrian.judging.references import Reference
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.metrics.parameters.estimate import Measured

#: ``as it should be``; ``other choice``: unlike the reference, but allowed by the standards;
#: ``off``: against the standard; ``inconclusive``: the interval allows both, or there is too little data;
#: ``not judged``: no reference value exists
Status = Literal["as it should be", "other choice", "off", "inconclusive", "not judged"]
#: fewest differing trials, or networks, for a difference from the reference
FEWEST_TRIALS = 2
#: smallest share of the trials in which a parameter must be measured
SHOWN_SHARE = 0.5
#: smallest share of the events that must agree on one kind
AGREEING_SHARE = 0.8
#: what makes a β too low as a share of the window, and right as the standard has it
OF_FLIGHT = (
    "β may be of the bytes in flight, as RFC 9438, section 4.6, and RFC 5681, section 3.1, have it: "
    "they lack the lost packets and those just acknowledged"
)


@dataclass(frozen=True)
class Finding:
    """A measured parameter and its judgement. ``network`` is where it was measured.

    ``why``: why it is inconclusive, in words. ``few``: too few events. ``looks``: its status if a second
    trial or another network confirms it. ``kernels``: what the kernel's controller shows on this network;
    None if it was not measured there. ``confirmed_on``: of a difference in one trial, another network whose
    trials show the same parameter differ in the same direction; empty for others.
    """

    network: str
    measured: Measured
    reference: Reference | None
    status: Status
    why: str = ""
    looks: Literal["other choice", "off"] | None = None
    few: bool = False
    kernels: Measured | None = None
    confirmed_on: str = ""

    @property
    def key(self) -> str:
        """The parameter's key."""
        return self.measured.parameter

    @property
    def differs(self) -> bool:
        """Is it unlike the reference, allowed or not?"""
        return self.status in ("off", "other choice")


def judge(network: str, measured: Measured, reference: Reference | None) -> Finding:
    """Compare a parameter's interval with the values that the reference allows.

    An interval inside is as it should be. An interval outside differs, if enough events in more than one
    trial show it. Everything else is inconclusive.
    """
    if reference is None:
        return Finding(network, measured, None, "not judged")
    finding = Finding(network, measured, reference, "inconclusive")
    if why := too_little(measured):
        return replace(finding, why=why, few=measured.events < PARAMETERS[measured.parameter].fewest)
    if _agrees(measured, reference):
        return replace(finding, status="as it should be")
    if is_of_flight(measured, reference):
        return replace(finding, why=OF_FLIGHT)
    if not _excludes(measured, reference):
        why = "the interval contains right and wrong values"
        if _excludes(measured, reference.model_copy(update={"more": 0.0})):
            why = reference.more_why
        return replace(finding, why=why)
    differing = _differing(reference)
    if measured.agreeing < FEWEST_TRIALS:
        return replace(finding, why="seen in one trial; a difference needs two", looks=differing)
    return replace(finding, status=differing, looks=differing)


def _differing(reference: Reference) -> Literal["other choice", "off"]:
    return "off" if reference.binds else "other choice"


def confirmed(finding: Finding, others: Sequence[Finding] = ()) -> Finding:
    """A finding of one trial, confirmed by another network.

    ``others``: the same parameter where other trials show it differ in the same direction.
    """
    if finding.looks is None:
        return finding
    on = "" if finding.differs else next((one.network for one in others), "")
    return replace(finding, status=finding.looks, why="", confirmed_on=on)


def same_direction(finding: Finding, other: Finding) -> bool:
    """Do both look equally wrong: as the same kind, or both above or both below the reference value?"""
    if finding.looks != other.looks or finding.reference is None or other.reference is None:
        return False
    mine, its = finding.reference.value, other.reference.value
    if mine is None or its is None:
        return finding.measured.label == other.measured.label
    return (finding.measured.value > mine) == (other.measured.value > its)


def inconclusive(finding: Finding, why: str) -> Finding:
    """The same finding, made inconclusive for the reason ``why``."""
    return replace(finding, status="inconclusive", why=why, looks=None)


def unjudged(finding: Finding) -> Finding:
    """The same finding without a judgement: its reference does not apply here."""
    return Finding(finding.network, finding.measured, None, "not judged")


def beside(finding: Finding, kernels: Measured | None) -> Finding:
    """The same finding, with what the kernel's controller shows on this network.

    A choice that the kernel's controller makes there, too, is not unlike the reference.
    """
    if finding.looks != "other choice" or finding.reference is None or kernels is None:
        return finding
    mine, margin = finding.measured, finding.reference.tolerance
    apart = max(mine.low - kernels.high, kernels.low - mine.high)
    same = mine.label == kernels.label if finding.reference.value is None else apart <= margin
    return unjudged(finding) if same else replace(finding, kernels=kernels)


def too_little(measured: Measured) -> str:
    """Why the data is too little to judge any value; empty if it is enough.

    Identical trials count here: a parameter that most of them do not show is known from the few others only.
    """
    if is_unknown(measured):
        return "its interval contains every possible value"
    fewest = PARAMETERS[measured.parameter].fewest
    if measured.events < fewest:
        events = "event" if measured.events == 1 else "events"
        return f"{measured.events} {events}; a judgement needs {fewest}"
    if measured.shown < SHOWN_SHARE * measured.ran:
        each = ", identical ones included" if measured.ran > measured.of_trials else ""
        return f"measured in only {measured.shown} of {measured.ran} trials{each}"
    return _disagreement(measured)


def few_and_off(finding: Finding) -> bool:
    """Has it too few events to judge, and does its interval exclude what the standard sets?"""
    reference = finding.reference
    return (
        finding.few and reference is not None and reference.binds and _excludes(finding.measured, reference)
    )


def is_of_flight(measured: Measured, reference: Reference) -> bool:
    """Is it too low for a β of the window, but not for one of the bytes in flight?"""
    return not _excludes(measured, reference) and _excludes(replace(measured, lower_by=0.0), reference)


def is_unknown(measured: Measured) -> bool:
    """Does its interval contain every possible value? Then its centre says nothing."""
    ends = PARAMETERS[measured.parameter].ends
    return ends is not None and measured.low <= ends[0] and measured.high >= ends[1]


def _disagreement(measured: Measured) -> str:
    """Why the events or trials agree on no kind; empty if they do, and for a number."""
    if measured.agreement < AGREEING_SHARE:
        # the trials of other kinds may have more events of this one
        least = "" if measured.agreeing == measured.trials else "at least "
        return (
            f"{measured.label} in {least}{100 * measured.agreement:.0f} % of its events; "
            f"a judgement needs {100 * AGREEING_SHARE:.0f} % of one kind"
        )
    if measured.agreeing <= measured.trials / 2:
        return (
            f"{measured.label} in {measured.agreeing} of {measured.trials} trials; "
            "a judgement needs more than half of one kind"
        )
    return ""


def _agrees(measured: Measured, reference: Reference) -> bool:
    if reference.value is None:
        return measured.label == reference.words
    if reference.also is not None and _agrees(measured, _other(reference)):
        return True
    high_enough = reference.most or measured.low >= reference.value - reference.tolerance
    return high_enough and measured.high <= reference.value + reference.tolerance


def _excludes(measured: Measured, reference: Reference) -> bool:
    if reference.value is None:
        return measured.label != reference.words
    if reference.also is not None and not _excludes(measured, _other(reference)):
        return False
    too_high = measured.low > reference.value + reference.tolerance + reference.more
    too_low = measured.high + measured.lower_by < reference.value - reference.tolerance
    return too_high or (too_low and not reference.most)


def _other(reference: Reference) -> Reference:
    return reference.model_copy(update={"value": reference.also, "also": None})


def value_text(measured: Measured) -> str:
    """``0.85 ± 0.01``, the name of a kind, or ``not measured``."""
    parameter = PARAMETERS[measured.parameter]
    if is_unknown(measured):
        return "not measured"
    if parameter.kinds and measured.label is not None:
        return measured.label
    # the title of a share says of what
    unit = f" {parameter.unit}" if parameter.unit not in ("", "share") else ""
    return f"{with_interval(measured.value, (measured.high - measured.low) / 2, parameter.digits)}{unit}"


def with_interval(value: float, half: float, digits: int) -> str:
    """``0.85 ± 0.01``: both with ``digits`` decimals, or with more until the interval does not read as 0."""
    while digits < _MOST_DIGITS and half > 0 and round(half, digits) == 0:
        digits += 1
    return f"{value:.{digits}f} ± {half:.{digits}f}"


def _values(finding: Finding, alike: Sequence[Finding]) -> str:
    """The finding's value; the least and the greatest one where no value is in the intervals of both."""
    least = min(alike, key=lambda one: one.measured.high, default=finding)
    most = max(alike, key=lambda one: one.measured.low, default=finding)
    if finding.measured.label is not None or least.measured.high >= most.measured.low:
        return value_text(finding.measured)
    ends = [f"{value_text(one.measured)} on {one.network}" for one in (least, most)]
    return f"from {ends[0]} to {ends[1]}"


#: no parameter is known to more decimals
_MOST_DIGITS = 4


def reference_text(reference: Reference) -> str:
    """The reference value: ``0.7``, ``at most 10``, ``hystart``."""
    if reference.words is not None:
        return reference.words
    text = f"{reference.value:.3g}" + ("" if reference.also is None else f" or {reference.also:.3g}")
    return f"at most {text}" if reference.most else text


def sentence(finding: Finding, alike: Sequence[Finding] = ()) -> str:
    """One finding in words: the value; if it differs, the reference value; if it is off, its source too.

    A kind that events or trials do not agree on is no value: it would accuse a controller without proof.
    ``alike``: findings of the same parameter and status on several networks, this one among them. If the
    intervals of two of them exclude each other, both ends are named.
    """
    title = PARAMETERS[finding.key].title
    text = f"{title} is {_values(finding, alike)}"
    if finding.status == "inconclusive":
        no_value = finding.why and finding.why == _disagreement(finding.measured)
        return f"{title} is inconclusive ({finding.why})" if no_value else f"{text} ({finding.why})"
    if finding.reference is None or not finding.differs:
        return text
    should = reference_text(finding.reference)
    if finding.status == "off":
        return f"{text}; should be {should} ({finding.reference.source})"
    usual = f"usual: {should}" if finding.kernels is None else f"the reference: {value_text(finding.kernels)}"
    is_below = finding.reference.value is not None and finding.measured.value < finding.reference.value
    note = f"; {finding.reference.below}" if finding.reference.below and is_below else ""
    return f"{text} ({usual}{note})"
