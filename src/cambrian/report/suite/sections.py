"""What a ``[[section]]`` of studies/SUITE/suite.toml is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, model_validator

from cambrian.effects.model import EffectSpec, Name, Where
from cambrian.study.model import Frozen
from cambrian.study.toml_file import TomlFile
from cambrian.suites.model import SECTION

#: stand for a suite's contestant in a section that is made once for each of them
PLACEHOLDERS = ("$CONTESTANT", "$STACK", "$CCA")


class Drawn(EffectSpec):
    """An effect by cell, as a figure: a panel for each value of ``panel``.

    ``title`` is the effect in words, with its unit: the scale's or the axis's. ``logarithmic``
    lays effects by factors.
    """

    panel: Name | None = None
    title: Name
    digits: Annotated[int, Field(ge=0, le=4)] = 2
    logarithmic: bool = False


class Heat(Drawn):
    """Cells by column ``x`` and row ``y``; faint where what is tested is inconclusive."""

    x: Name
    y: Name

    @property
    def spec(self) -> EffectSpec:
        """The effect, with the figure's cells."""
        return _with_cells(self, self.x, self.y, self.panel)


class Lines(Drawn):
    """The effect along ``x``, a line for each value of ``colour``, with intervals.

    ``theory`` adds what Mathis and RFC 9438 predict for kernel TCP under random loss.
    """

    x: Name
    colour: Name | None = None
    theory: bool = False
    logarithmic_x: bool = False

    @property
    def spec(self) -> EffectSpec:
        """The effect, with the figure's cells."""
        return _with_cells(self, self.x, self.colour, self.panel)


class Crossover(EffectSpec):
    """From which value of ``along`` on the effect stays above ``threshold``; ``title`` is its heading."""

    along: Name
    threshold: float = 1.0
    title: Name

    @property
    def spec(self) -> EffectSpec:
        """The effect, with ``along`` among its cell's columns."""
        return _with_cells(self, self.along)


class TableOf(Frozen):
    """Rows of a frame as they are; ``columns`` in this order, all for none."""

    part: Name
    table: Name = "observations"
    columns: tuple[Name, ...] = ()
    where: Where = Field(default_factory=dict)
    sort: tuple[Name, ...] = ()
    digits: Annotated[int, Field(ge=0, le=6)] = 2
    caption: str = ""


class Section(Frozen):
    """A heading, words (a blank line starts a paragraph), and at most one thing to show.

    ``comparison`` names one of published/PAPER/comparisons.toml, ``scorecard`` a file of criteria
    beside suite.toml; ``claims`` are the paper's, all or those whose identities are given.
    ``labels`` gives a column's heading on this page, such as rtt_ms = "One-way delay (ms)".
    """

    heading: Name
    text: str = ""
    comparison: Name | None = None
    #: with the comparison: theory's predictions beside kernel TCP
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
            raise ValueError(f"{given[0]} and {given[1]} are two things: give each a section")
        if self.theory and self.comparison is None:
            raise ValueError("theory stands beside a comparison, or within lines: move it there")
        return self

    @property
    def part(self) -> str | None:
        """The part that its figures come from, where the section itself says so."""
        shown = self.heat or self.lines or self.crossover or self.table
        return shown.part if shown else None


def sections(file: TomlFile, contestants: Sequence[tuple[str, str]]) -> tuple[Section, ...]:
    """The sections of a suite.toml, in its order; one with a placeholder is there once for each (stack, CCA).

    Raises:
        StudyError: naming the section, its line and key, and what would be right.
    """
    found: list[Section] = []
    for index, given in enumerate(file.listed(SECTION)):
        filled = [given]
        if any(word in str(given) for word in PLACEHOLDERS):
            filled = [_filled(given, *one) for one in contestants]
        found += [file.build(Section, (SECTION, index), one) for one in filled]
    return tuple(found)


def _filled(given: Any, stack: str, cca: str) -> Any:
    if isinstance(given, str):
        filled = given.replace("$CONTESTANT", f"{stack}-{cca}")
        return filled.replace("$STACK", stack).replace("$CCA", cca)
    if isinstance(given, Mapping):
        return {key: _filled(value, stack, cca) for key, value in given.items()}
    return [_filled(value, stack, cca) for value in given] if isinstance(given, list) else given


def _with_cells(drawn: EffectSpec, *columns: str | None) -> EffectSpec:
    names = {*EffectSpec.model_fields} - {"cell"}
    cell = dict.fromkeys([*drawn.cell, *(one for one in columns if one is not None)])
    return EffectSpec(**{name: getattr(drawn, name) for name in names}, cell=tuple(cell))
