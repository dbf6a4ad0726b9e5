"""The model of a ``[[section]]`` of studies/SUITE/suite.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, model_validator

from cambrian.effects.model import OBSERVATIONS, Column, EffectSpec, Name, Where
from cambrian.report.charts.model import Heat, Lines, with_cells
from cambrian.study.model import Frozen
from cambrian.study.positions import Path as Place
from cambrian.study.toml_file import TomlFile
from cambrian.suites.model import SECTION

#: replaced by the contestant in a section that repeats for each contestant
PLACEHOLDERS = ("$CONTESTANT", "$STACK", "$CCA")


class Crossover(EffectSpec):
    """The value of ``along`` from which the effect stays above ``threshold``; ``title`` is the heading."""

    along: Column
    threshold: float = 1.0
    title: Name

    @property
    def spec(self) -> EffectSpec:
        """The effect, with ``along`` among its cell's columns."""
        return with_cells(self, self.along)


class TableOf(Frozen):
    """Rows of a frame; ``columns`` in this order, or all columns if empty."""

    part: Name
    table: Name = OBSERVATIONS
    columns: tuple[Column, ...] = ()
    where: Where = Field(default_factory=dict)
    sort: tuple[Column, ...] = ()
    digits: Annotated[int, Field(ge=0, le=6)] = 2
    caption: str = ""


class Section(Frozen):
    """A heading, words (a blank line starts a paragraph), and at most one thing to show.

    ``comparison`` names a comparison of published/PAPER/comparisons.toml, ``scorecard`` a file of criteria
    beside suite.toml; ``claims`` are the paper's: all, or those with the given identities.
    ``labels`` gives a column's heading on this page, such as rtt_ms = "One-way delay (ms)".
    """

    heading: Name
    text: str = ""
    comparison: Name | None = None
    #: adds theory's predictions for kernel TCP to the comparison
    theory: bool = False
    heat: Heat | None = None
    lines: Lines | None = None
    crossover: Crossover | None = None
    table: TableOf | None = None
    claims: bool | tuple[Name, ...] = False
    scorecard: Name | None = None
    labels: dict[Name, Name] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_thing(self) -> Section:
        given = [
            key
            for key in ("comparison", "heat", "lines", "crossover", "table", "claims", "scorecard")
            if getattr(self, key)
        ]
        if len(given) > 1:
            raise ValueError(f"a section shows one thing, not {given[0]} and {given[1]}: make two sections")
        if self.theory and self.comparison is None:
            raise ValueError("theory needs a comparison, or belongs into lines: move it there")
        return self

    @property
    def part(self) -> str | None:
        """The part that the section itself names; None if it names no part."""
        shown = self.heat or self.lines or self.crossover or self.table
        return shown.part if shown else None


def sections(file: TomlFile, contestants: Sequence[tuple[str, str]]) -> tuple[Section, ...]:
    """The sections of a suite.toml, in its order; one with a placeholder repeats for each (stack, CCA).

    Raises:
        StudyError: a section is wrong; the message has its line, its key and the remedy.
    """
    return tuple(section for _, section in placed(file, contestants))


def placed(file: TomlFile, contestants: Sequence[tuple[str, str]]) -> list[tuple[Place, Section]]:
    """As :func:`sections`, each with its place in the file."""
    tables: list[tuple[Place, Mapping[str, Any]]] = []
    for index, given in enumerate(file.listed(SECTION)):
        filled = [given]
        if any(word in str(given) for word in PLACEHOLDERS):
            filled = [_filled(given, *one) for one in contestants]
        tables += [((SECTION, index), one) for one in filled]
    built = file.build_all(Section, tables)
    return [(place, section) for (place, _), section in zip(tables, built, strict=True)]


def _filled(given: Any, stack: str, cca: str) -> Any:
    if isinstance(given, str):
        filled = given.replace("$CONTESTANT", f"{stack}-{cca}")
        return filled.replace("$STACK", stack).replace("$CCA", cca)
    if isinstance(given, Mapping):
        return {key: _filled(value, stack, cca) for key, value in given.items()}
    return [_filled(value, stack, cca) for value in given] if isinstance(given, list) else given
