"""The report's tables, as ``tables.toml`` lists them.

A table is made by a function ``table(collected)`` of a module here: a polars frame of plain numbers with
units in the columns' names, or None if the study has no such table. It becomes ``tables/NAME.csv``. A table
that ``needs`` others receives those that the study has: ``table(collected, frames)``. A module's ``on_page``,
if there is one, makes of the frame's rows on one network those that the page shows there.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection
from functools import cache
from importlib import resources
from pathlib import Path
from string import Formatter
from types import ModuleType
from typing import Any, Literal

import polars as pl
from pydantic import Field

from cambrian.measure import quantities
from cambrian.metrics.columns import NS_PER_S
from cambrian.metrics.convergence import HOLD_NS, JAIN
from cambrian.report import layout
from cambrian.report.collect import Collected
from cambrian.report.layout import Row, Shown
from cambrian.study.model import Frozen, Network
from cambrian.study.toml_file import TomlFile

#: what captions leave open
_WORDS = {"brackets": layout.BRACKETS, "jain": JAIN, "hold_s": HOLD_NS / NS_PER_S}


class Column(Frozen):
    """A column that the page shows; ``tables.toml`` explains the keys."""

    kind: Literal["text", "words", "count", "number", "whole", "interval", "p", "function"] = "text"
    of: str = ""
    words: str = ""
    heading: str = ""
    digits: int = 0
    left: bool = False
    given: str = ""
    above_0: tuple[str, ...] = ()

    def is_in(self, frame: pl.DataFrame) -> bool:
        """Has the column something to show?"""
        if self.above_0:
            return any((frame[name].fill_null(0) > 0).any() for name in self.above_0)
        return not self.given or frame[self.given].is_not_null().any()

    def column(self, module: ModuleType) -> layout.Column:
        """The column as the page has it; ``module`` makes the table."""
        registered = None if self.heading else quantities.ALL[self.of]
        heading = registered.heading if registered else self.heading
        digits = registered.digits if registered else self.digits
        if self.kind in ("number", "interval"):
            numbers = layout.plain if self.kind == "number" else layout.spread
            return numbers(self.of, heading, digits)
        others = {"text": layout.text, "whole": layout.whole, "p": layout.p_value}
        if self.kind in others:
            return others[self.kind](self.of, heading)
        show = getattr(module, self.of) if self.kind == "function" else self._filled_in
        return layout.Column(heading, show, number=not self.left and self.kind != "words")

    def _filled_in(self, row: Row) -> str:
        """A dash if the first of the words' columns has no value."""
        first = next(name for _, name, *_ in _Words().parse(self.words) if name)
        return layout.NOTHING if row[first] is None else _Words().format(self.words, **row)


class _Words(Formatter):
    """``{name:2}`` is a number with two decimals."""

    def format_field(self, value: Any, decimals: str) -> str:
        return layout.number(value, int(decimals)) if decimals else str(value)


class Kind(Frozen):
    """A table."""

    by: str = ""
    printed: tuple[str, ...]
    needs: tuple[str, ...] = ()
    caption: str = ""
    folded: bool = False
    once: bool = False
    first: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    together: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()


@cache
def kinds() -> dict[str, Kind]:
    """Name → every table that a study can have, in the order of the page."""
    path = Path(str(resources.files(__package__).joinpath("tables.toml")))
    return TomlFile(path, "docs/how-to/add-a-chart.md").tables_by_name(Kind)


def _made_by(name: str) -> tuple[ModuleType, str]:
    """The module and the name of the function that make a table."""
    module, _, function = (kinds()[name].by or name).partition(".")
    return importlib.import_module(f"{__name__}.{module}"), function or "table"


def all_tables(collected: Collected) -> dict[str, pl.DataFrame]:
    """Name → frame of every table that this study has, in the order of the page."""
    return some_tables(collected, kinds())


def some_tables(collected: Collected, names: Collection[str]) -> dict[str, pl.DataFrame]:
    """The named tables that this study has, and the tables that they need, in the order of the page."""
    tables: dict[str, pl.DataFrame | None] = {}

    def make(name: str) -> None:
        if name in tables:
            return
        module, function = _made_by(name)
        given: list[Any] = []
        if needs := kinds()[name].needs:
            for needed in needs:
                make(needed)
            given = [{needed: frame for needed in needs if (frame := tables[needed]) is not None}]
        tables[name] = getattr(module, function)(collected, *given)

    for name in names:
        make(name)
    return {name: frame for name in kinds() if (frame := tables.get(name)) is not None}


def shown(name: str, frame: pl.DataFrame, collected: Collected) -> Shown:
    """How the page shows the rows of one network, or those of a table that it has once."""
    kind, module = kinds()[name], _made_by(name)[0]
    here = module.on_page(frame, collected) if hasattr(module, "on_page") else frame
    for column, values in kind.first.items():
        ranks = {value: number for number, value in enumerate(values)}
        rank = pl.col(column).cast(pl.String).replace_strict(ranks, default=len(ranks), return_dtype=pl.Int8)
        here = here.filter(pl.col(column).is_not_null()).sort(rank, maintain_order=True)
    if kind.together and here.height:
        here = pl.concat(here.partition_by(kind.together, maintain_order=True))
    columns = [column.column(module) for column in kind.columns if column.is_in(here)]
    return layout.shown(here, columns, kind.caption.format(**_WORDS), f"{name}.csv", folded=kind.folded)


def on(network: Network, collected: Collected, frames: dict[str, pl.DataFrame]) -> tuple[Shown, ...]:
    """The tables of one network's section."""
    here = {
        name: frames[name].filter(pl.col("network") == network.name)
        for name, kind in kinds().items()
        if name in frames and kind.columns and not kind.once
    }
    found = [shown(name, frame, collected) for name, frame in here.items() if frame.height]
    return tuple(one for one in found if one.rows)
