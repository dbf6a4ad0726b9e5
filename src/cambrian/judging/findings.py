"""One parameter, measured, beside what it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cambrian.judging.references import Reference
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.metrics.parameters.estimate import Measured

#: ``as it should be``; ``other choice``: unlike the reference, and the standards allow it;
#: ``off``: unlike the standard; ``not judged``: no standard says what it should be
Status = Literal["as it should be", "other choice", "off", "not judged"]


@dataclass(frozen=True)
class Finding:
    """A measured parameter and its judgement. ``network`` is where it was measured."""

    network: str
    measured: Measured
    reference: Reference | None
    status: Status

    @property
    def key(self) -> str:
        """The parameter's."""
        return self.measured.parameter

    @property
    def differs(self) -> bool:
        """Is it unlike the reference, blamed or not?"""
        return self.status in ("off", "other choice")


def judge(network: str, measured: Measured, reference: Reference | None) -> Finding:
    """Does the measured interval exclude the reference by more than its tolerance?"""
    if reference is None:
        return Finding(network, measured, None, "not judged")
    if _agrees(measured, reference):
        return Finding(network, measured, reference, "as it should be")
    return Finding(
        network, measured, reference, "off" if reference.level == "requirement" else "other choice"
    )


def unjudged(finding: Finding) -> Finding:
    """The same without a judgement: what it should be does not hold here."""
    return Finding(finding.network, finding.measured, None, "not judged")


def _agrees(measured: Measured, reference: Reference) -> bool:
    if reference.value is None:
        return measured.label == reference.words
    too_high = measured.low > reference.value + reference.tolerance
    too_low = measured.high < reference.value - reference.tolerance
    return not too_high and (reference.most or not too_low)


def value_text(measured: Measured) -> str:
    """``0.85 ± 0.01``, ``1.25 [1.2, 1.4]`` where lopsided, or a kind's word."""
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
    if finding.reference is None or not finding.differs:
        return text
    should = reference_text(finding.reference)
    if finding.status == "off":
        return f"{text}; should be {should} ({finding.reference.source})"
    return f"{text} (the reference: {should})"
