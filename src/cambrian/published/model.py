"""What a comparison is: cells that a paper printed, and the effect that stands beside them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from cambrian.effects.model import Column, Condition, Name, SummarySpec, Where
from cambrian.study.model import Frozen


class Comparison(Frozen):
    """A ``[[comparison]]`` of published/PAPER/comparisons.toml.

    Each row of ``files`` that meets ``where`` is a published cell. ``match`` says which column
    of the observations each of its keys is; a key's empty field in a row puts no condition on
    that row. ``factor`` multiplies a key first (a one-way delay into a round trip: 2), and
    ``values`` translates its words. ``sides`` gives, for each word in ``side_column``, what
    side a must be beside ``measured.a``; rows with other words are left out.

    Their figure is one of: ``published`` (a number; with ``published_sd`` and
    ``published_trials`` it has an interval; with ``published_of`` it is a count out of that
    column's, and compared in percent; with ``published_bound`` it is a bound, and ours should
    lie on that side) or ``published_sign`` ("yes": the effect is positive, "no": it is not).
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: Name
    source: Name
    text: str = ""
    files: Annotated[tuple[Name, ...], Field(min_length=1)]
    where: dict[Name, Condition] = Field(default_factory=dict)
    match: dict[Name, Column]
    factor: dict[Name, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    values: dict[Name, dict[str, bool | float | str]] = Field(default_factory=dict)
    side_column: Name | None = None
    sides: dict[str, Where] = Field(default_factory=dict)
    published: Name | None = None
    published_sd: Name | None = None
    published_trials: Name | None = None
    published_of: Name | None = None
    published_bound: Literal["above", "below"] | None = None
    published_sign: Name | None = None
    unit: str = ""
    digits: Annotated[int, Field(ge=0, le=6)] = 2
    #: figures this near are called so, where ours is too narrow to hold theirs
    near_percent: Annotated[float, Field(gt=0, le=100)] | None = None
    measured: SummarySpec

    @model_validator(mode="after")
    def _fits(self) -> Comparison:
        if (self.published is None) == (self.published_sign is None):
            raise ValueError("published and published_sign exclude each other: give one of them")
        if self.published is None:
            for key in ("published_sd", "published_trials", "published_of", "published_bound"):
                if getattr(self, key) is not None:
                    raise ValueError(f"{key} belongs to a number: give published, or leave it out")
        if (self.published_sd is None) != (self.published_trials is None):
            raise ValueError("published_sd needs published_trials and the other way round: give both")
        if (self.side_column is None) != (not self.sides):
            raise ValueError("side_column and sides go together: give both or neither")
        for key in ("factor", "values"):
            if unknown := [name for name in getattr(self, key) if name not in self.match]:
                raise ValueError(f"{key} names {unknown[0]}, which is not in match: add it there")
        return self

    @property
    def published_columns(self) -> dict[str, str]:
        """Key of the comparison → the column of the files that it names."""
        keys = ("published", "published_sd", "published_trials", "published_of", "published_sign",
                "side_column")  # fmt: skip
        named = {key: value for key in keys if (value := getattr(self, key)) is not None}
        return named | {f"match.{name}": name for name in self.match}

    @property
    def is_rounded(self) -> bool:
        """Are the published cells rounded to their last digit? Counts, bounds and signs are exact."""
        return self.has_figures and self.published_of is None

    @property
    def has_figures(self) -> bool:
        """Are the published cells figures, and neither signs nor bounds?"""
        return self.published is not None and self.published_bound is None
