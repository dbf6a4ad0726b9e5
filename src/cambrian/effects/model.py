"""The keys of an effect, and of one figure over all its cells.

Claims, criteria, comparisons and the figures of a suite's page have the same keys; docs/reference/claims.md
explains each.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, model_validator

from cambrian import paths
from cambrian.measure import quantities
from cambrian.study import hints
from cambrian.study.model import Frozen

Scalar = bool | int | float | str
Kind = Literal["ratio", "difference", "percent_less", "percent_more", "value"]
Over = Literal["mean", "geometric_mean", "median", "min", "max", "share", "slope", "steps", "best"]
Name = Annotated[str, Field(min_length=1)]
OBSERVATIONS = "observations"


def _registered(name: str, info: ValidationInfo) -> str:
    """``name`` itself; a name in a file (with a validation context) must be in the registry.

    The registry has the columns of the observations. The columns of a report's table (``table``) are known
    when the report makes it.

    Raises:
        ValueError: the registry has no such quantity; the message has the near matches.
    """
    of_observations = info.data.get("table", OBSERVATIONS) == OBSERVATIONS
    if info.context and of_observations and not quantities.has(name):
        near = hints.near(name, quantities.ALL)
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        listed = f"`cambrian quantities` and {paths.page('docs/reference/quantities.md')} list all"
        raise ValueError(f"no quantity {name}: {meant}{listed}")
    return name


#: name of a column of the observations, or of the model's ``table``
Column = Annotated[str, Field(min_length=1), AfterValidator(_registered)]


class Bounds(Frozen):
    """A condition on a column other than "is one of these"; all given bounds must hold.

    A row without a value meets only ``not`` and ``given = false``.
    """

    model_config = ConfigDict(populate_by_name=True)

    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    below: float | None = None
    not_: Scalar | tuple[Scalar, ...] | None = Field(default=None, alias="not")
    given: bool | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Bounds:
        if all(value is None for value in self.__dict__.values()):
            raise ValueError("no condition: give at_least, at_most, above, below, not or given")
        return self


Condition = Scalar | tuple[Scalar, ...] | Bounds
#: column → what its value must be; all conditions must hold
Where = dict[Column, Condition]


class EffectSpec(Frozen):
    """Side ``a`` compared with side ``b`` in each cell.

    Each trial has one value for each side: ``flows`` of ``quantity`` over its rows that match ``where`` and
    the side. A seed's value is the mean of its trials; a side's figure in a cell is the mean of its seeds (or
    their SD). Without ``b`` the effect is a's figure itself, in the quantity's unit.
    """

    part: Name
    table: Name = OBSERVATIONS
    quantity: Column
    flows: Literal["mean", "sum", "min", "max"] = "mean"
    of: Literal["mean", "sd"] = "mean"
    where: Where = Field(default_factory=dict)
    cell: tuple[Column, ...] = ()
    a: Where = Field(default_factory=dict)
    b: Where | None = None
    effect: Kind | None = None

    @model_validator(mode="after")
    def _sides_fit(self) -> EffectSpec:
        if self.effect == "value" and self.b is not None:
            raise ValueError('effect "value" is of side a alone: leave b out, or compare with another effect')
        if self.effect not in {None, "value"} and self.b is None:
            raise ValueError(f'effect "{self.effect}" compares two sides: give b')
        if len(set(self.cell)) < len(self.cell):
            raise ValueError("cell names a column twice: remove one")
        return self

    @property
    def kind(self) -> Kind:
        """``effect``, or its default."""
        return self.effect or ("value" if self.b is None else "ratio")


class SummarySpec(EffectSpec):
    """One figure over all cells' effects."""

    over: Over | None = None
    threshold: float | None = None
    beyond: Literal["above", "below"] = "above"
    along: Column | None = None
    at: Scalar | None = None
    step: Literal["falls", "rises"] | None = None

    @model_validator(mode="after")
    def _over_has_what_it_needs(self) -> SummarySpec:
        needs = {"share": ("threshold",), "slope": ("along",), "steps": ("along", "step"),
                 "best": ("along", "at")}.get(self.summary, ())  # fmt: skip
        for key in ("threshold", "along", "at", "step"):
            given = getattr(self, key) is not None
            if key in needs and not given:
                raise ValueError(f'over "{self.summary}" needs {key}: give it')
            if given and key not in needs:
                raise ValueError(f'over "{self.summary}" takes no {key}: remove it')
        if self.along is not None and self.along not in self.cell:
            raise ValueError(f'along = "{self.along}" must be one of the columns in cell: add it there')
        return self

    @property
    def summary(self) -> Over:
        """``over``, or its default: the geometric mean for ratios, else the mean."""
        return self.over or ("geometric_mean" if self.kind == "ratio" else "mean")
