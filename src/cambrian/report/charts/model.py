"""Charts as data: an effect by cell, drawn as a heat map or as lines."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cambrian.effects.model import Column, EffectSpec, Name


class Drawn(EffectSpec):
    """An effect by cell, as a figure: a panel for each value of ``panel``.

    ``title`` is the effect in words, with its unit: the title of the colours or of the axis.
    ``logarithmic``: a logarithmic scale for effects.
    """

    panel: Column | None = None
    title: Name
    digits: Annotated[int, Field(ge=0, le=4)] = 2
    logarithmic: bool = False


class Heat(Drawn):
    """Cells by column ``x`` and row ``y``; inconclusive cells are faint."""

    x: Column
    y: Column

    @property
    def spec(self) -> EffectSpec:
        """The effect, with the figure's cells."""
        return with_cells(self, self.x, self.y, self.panel)


class Lines(Drawn):
    """The effect along ``x``, a line for each value of ``colour``, with intervals.

    ``theory`` adds the predictions of Mathis and RFC 9438 for kernel TCP under random loss.
    """

    x: Column
    colour: Column | None = None
    theory: bool = False
    logarithmic_x: bool = False

    @property
    def spec(self) -> EffectSpec:
        """The effect, with the figure's cells."""
        return with_cells(self, self.x, self.colour, self.panel)


def with_cells(drawn: EffectSpec, *columns: str | None) -> EffectSpec:
    """The effect of ``drawn``, with these columns among its cell's."""
    names = {*EffectSpec.model_fields} - {"cell"}
    cell = dict.fromkeys([*drawn.cell, *(one for one in columns if one is not None)])
    return EffectSpec(**{name: getattr(drawn, name) for name in names}, cell=tuple(cell))
