"""The model of claims, their tests, and contradictions between two claims."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from cambrian.effects.model import OBSERVATIONS, Column, EffectSpec, Name, SummarySpec, Where
from cambrian.study.model import Frozen

Verdict = Literal["holds", "doesn't hold", "inconclusive", "not run", "not available"]


class Expect(Frozen):
    """The region of the figure if the claim is right; exactly one key."""

    above: float | None = None
    below: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    between: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _one(self) -> Expect:
        if sum(value is not None for value in self.__dict__.values()) != 1:
            raise ValueError(
                "one region is expected: give one of above, below, at_least, at_most and between"
            )
        if self.between and self.between[0] >= self.between[1]:
            raise ValueError("between = [low, high] needs low < high: correct them")
        return self

    def covers(self, low: float, high: float) -> bool:
        """Is the whole interval [low, high] in the region?"""
        return self._has(low) and self._has(high)

    def misses(self, low: float, high: float) -> bool:
        """Is the whole interval [low, high] outside the region?"""
        if self.between:
            return high < self.between[0] or low > self.between[1]
        return not self._has(low) and not self._has(high)

    @property
    def borders(self) -> tuple[float, ...]:
        """The ends of the region."""
        given = (self.above, self.below, self.at_least, self.at_most)
        return self.between or tuple(one for one in given if one is not None)

    def __str__(self) -> str:
        if self.between:
            return f"between {self.between[0]:g} and {self.between[1]:g}"
        key, value = next((key, value) for key, value in self.__dict__.items() if value is not None)
        return f"{key.replace('_', ' ')} {value:g}"

    def _has(self, value: float) -> bool:
        if self.between:
            return self.between[0] <= value <= self.between[1]
        return (
            (self.above is not None and value > self.above)
            or (self.below is not None and value < self.below)
            or (self.at_least is not None and value >= self.at_least)
            or (self.at_most is not None and value <= self.at_most)
        )


class ClaimTest(SummarySpec):
    """One figure of our results, and the region in which the claim expects it."""

    expect: Expect
    unit: str = ""
    says: Name


class Reason(Frozen):
    """Why our figures may differ from theirs: a text that several claims share."""

    id: Name
    text: Name


class Claim(Frozen):
    """A statement of a paper in our words; ``figure`` is the paper's figure, as printed.

    ``why_shared`` names a :class:`Reason`; loading appends its text to ``why_differ``.
    """

    id: Name
    paper: Name
    text: Name
    source: Name
    figure: str
    why_differ: str = ""
    why_shared: Name | None = None
    not_available: Annotated[str | None, Field(min_length=1)] = None
    tests: tuple[ClaimTest, ...] = Field(default=(), alias="test")

    @model_validator(mode="after")
    def _judged_or_not(self) -> Claim:
        if self.tests and self.not_available:
            raise ValueError("a claim with a test is available: remove not_available or the tests")
        return self


class Contradiction(Frozen):
    """Two claims that cannot both hold for the same network, and the factors that may be behind it.

    ``factors`` are columns of the observations; each cell is one combination of their levels.
    """

    id: Name
    claims: tuple[Name, Name]
    text: Name
    part: Name
    table: Name = OBSERVATIONS
    quantity: Column
    flows: Literal["mean", "sum", "min", "max"] = "mean"
    where: Where = Field(default_factory=dict)
    factors: Annotated[tuple[Column, ...], Field(min_length=1)]
    unit: str = ""

    @property
    def effect(self) -> EffectSpec:
        """The effect with one cell for each combination of the factors' levels."""
        return EffectSpec(
            part=self.part,
            table=self.table,
            quantity=self.quantity,
            flows=self.flows,
            where=self.where,
            cell=self.factors,
        )


class Ledger(Frozen):
    """All claims of all papers, and the contradictions between them."""

    claims: tuple[Claim, ...] = Field(alias="claim")
    contradictions: tuple[Contradiction, ...] = Field(default=(), alias="contradiction")
