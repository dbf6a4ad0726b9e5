"""The reference value of each parameter: ``references.toml``, checked and read once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cambrian.metrics.parameters.estimate import Measured
from cambrian.study.toml_file import TomlFile

#: the table of values that hold for every controller
_ALL = "all"
#: RFC 9438, section 4.6
RFC_9438_BETA = 0.7
#: the table for BBR's second and third generation
LATER_BBR = "bbr-v3"


class Reference(BaseModel):
    """One parameter's reference value: a ``value`` with its ``tolerance``, or ``words`` for a kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float | None = None
    words: str | None = None
    #: distance from the value that has no practical effect, in the parameter's unit
    tolerance: Annotated[float, Field(ge=0)] = 0.0
    #: another value that the algorithm's authors have had, as right as ``value``
    also: float | None = None
    #: how much above the tolerance another design of the algorithm may be: such a value is inconclusive
    more: Annotated[float, Field(ge=0)] = 0.0
    #: what that design does, for the reader of an inconclusive value
    more_why: str = ""
    #: the value is a maximum: any smaller value is as it should be
    most: bool = False
    level: Literal["must", "should", "may", "open"]
    #: what the standard says of smaller values, if it says more than ``level``
    below: str = ""
    source: str

    @property
    def binds(self) -> bool:
        """Does the standard set this value, so that any other is off?"""
        return self.level in ("must", "should")

    @model_validator(mode="after")
    def _one_of_both(self) -> Reference:
        if (self.value is None) == (self.words is None):
            raise ValueError("a reference is a number or a kind: give value, or words for a kind")
        if self.also is not None and self.value is None:
            raise ValueError("also is a second number: give value, too")
        if bool(self.more) != bool(self.more_why):
            raise ValueError("more and more_why go together")
        return self


@cache
def _tables() -> dict[str, dict[str, Reference]]:
    file = TomlFile(Path(__file__).with_name("references.toml"), "docs/reference/parameters.md")
    return {
        family: {name: file.build(Reference, (family, name), table) for name, table in tables.items()}
        for family, tables in file.raw.items()
    }


def families() -> tuple[str, ...]:
    """The kernel CCAs whose parameters are known."""
    return tuple(name for name in _tables() if name != _ALL)


def for_family(family: str) -> dict[str, Reference]:
    """Parameter → reference, for contestants that are judged against this kernel CCA."""
    tables = _tables()
    return tables.get(_ALL, {}) | tables.get(family, {}) if family in tables else {}


def following(
    standard: Mapping[str, Reference], beta: Measured, alpha: Measured | None
) -> dict[str, Reference]:
    """CUBIC's references for the measured β: α and fast convergence depend on it.

    α = 3(1−β)/(1+β) for one connection, or N² times that for N emulated connections (Chromium's
    ``CubicBytes::Alpha``), whichever is closer to ``alpha``. W_max = cwnd · (1+β)/2.
    The uncertainty of β widens the tolerances.
    """
    found = dict(standard)
    half = (beta.high - beta.low) / 2
    one = 3 * (1 - beta.value) / (1 + beta.value)
    connections = (1 - RFC_9438_BETA) / (1 - beta.value)
    of_many = connections**2 * one
    if alpha is not None and "alpha" in found:
        value = min((one, of_many), key=lambda value: abs(value - alpha.value))
        found["alpha"] = _moved(found["alpha"], value, 6 / (1 + beta.value) ** 2 * half)
    if "fast_convergence" in found:
        found["fast_convergence"] = _moved(found["fast_convergence"], (1 + beta.value) / 2, half / 2)
    return found


def _moved(reference: Reference, value: float, by: float) -> Reference:
    """The reference at another value, with the tolerance widened by ``by``."""
    return reference.model_copy(update={"value": value, "tolerance": reference.tolerance + by})
