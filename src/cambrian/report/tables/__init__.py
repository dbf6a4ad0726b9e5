"""The report's tables, one in each file.

Each file has ``ORDER``, ``PRINTED`` (the columns that `cambrian table` prints, at most 80 characters wide)
and ``table(collected)``: a polars frame of plain numbers with units in the columns' names, or None if the
study has no such table. It becomes ``tables/NAME.csv``. A file with ``FROM``, names of other tables, receives
those that the study has: ``table(collected, frames)``. A file may also have ``shown(frame, collected)``: how
the page shows the rows of one network (selected by the column ``network``), or None to show nothing.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection
from types import ModuleType

import polars as pl

from cambrian.report.collect import Collected
from cambrian.report.layout import Shown
from cambrian.study.model import Network


def kinds() -> list[ModuleType]:
    """The modules of this package that make a table, in the order of the page."""
    names = [found.name for found in pkgutil.iter_modules(__path__)]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return sorted((module for module in modules if hasattr(module, "ORDER")), key=lambda module: module.ORDER)


def name_of(kind: ModuleType) -> str:
    """A table's name: that of its module."""
    return kind.__name__.rpartition(".")[2]


def printed(name: str) -> tuple[str, ...]:
    """The columns of the table ``name`` that a terminal shows."""
    columns: tuple[str, ...] = importlib.import_module(f"{__name__}.{name}").PRINTED
    return columns


def all_tables(collected: Collected) -> dict[str, pl.DataFrame]:
    """Name → frame of every table that this study has, in the order of the page."""
    return some_tables(collected, [name_of(kind) for kind in kinds()])


def some_tables(collected: Collected, names: Collection[str]) -> dict[str, pl.DataFrame]:
    """The named tables that this study has, and the tables that they need, in the order of the page."""
    known = {name_of(kind): kind for kind in kinds()}
    tables: dict[str, pl.DataFrame | None] = {}

    def make(name: str) -> None:
        if name in tables:
            return
        kind = known[name]
        for needed in (parts := getattr(kind, "FROM", ())):
            make(needed)
        given = {needed: frame for needed in parts if (frame := tables[needed]) is not None}
        tables[name] = kind.table(collected, given) if parts else kind.table(collected)

    for name in names:
        make(name)
    return {name: frame for name in known if (frame := tables.get(name)) is not None}


def on(network: Network, collected: Collected, frames: dict[str, pl.DataFrame]) -> tuple[Shown, ...]:
    """The tables of one network's section."""
    found = []
    for kind in kinds():
        frame = frames.get(name_of(kind))
        if frame is None or not hasattr(kind, "shown"):
            continue
        here = frame.filter(pl.col("network") == network.name)
        if here.height and (table := kind.shown(here, collected)) is not None:
            found.append(table)
    return tuple(found)
