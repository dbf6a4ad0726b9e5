"""How the page shows a table: chosen columns with headings and units, numbers as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cambrian.measure import quantities

Row = dict[str, Any]
#: rows of a table that a page shows without being asked
MOST_OPEN_ROWS = 30
#: where there is nothing to show
NOTHING = "–"
#: beside a figure that is the same in every seed
SAME = "="
#: what a caption says of intervals
BRACKETS = "in brackets 95 % intervals over seeds, “=” where every seed gave the same"


@dataclass(frozen=True)
class Column:
    """A column of the page: what stands above it, and how a row fills it."""

    heading: str
    show: Callable[[Row], str]
    #: numbers stand right-aligned
    number: bool = True


@dataclass(frozen=True)
class Shown:
    """A table as the page has it; the first column names the row. ``csv`` is the file with all figures."""

    caption: str
    headings: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    csv: str
    #: for who asks further: a line that opens
    folded: bool = False
    #: a row is named by several columns, so that the first one's heading is needed, too
    keyed: bool = False

    @property
    def is_closed(self) -> bool:
        """Does it not stand open between a reader and what comes next?"""
        return self.folded or len(self.rows) > MOST_OPEN_ROWS


def shown(
    frame: pl.DataFrame, columns: Sequence[Column], caption: str, csv: str, *, folded: bool = False
) -> Shown:
    """``frame`` through ``columns``."""
    return Shown(
        caption=caption,
        headings=tuple(column.heading for column in columns),
        numbers=tuple(column.number for column in columns),
        rows=tuple(tuple(column.show(row) for column in columns) for row in frame.to_dicts()),
        csv=csv,
        folded=folded,
    )


def number(value: float | None, digits: int) -> str:
    """A fixed number of decimals, a true minus; a dash for nothing."""
    if value is None:
        return NOTHING
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def interval(row: Row, name: str, digits: int) -> str:
    """``0.83 [0.71, 0.90]``; ``0.83`` without an interval, ``0.83 =`` where seeds add no variation."""
    if row[name] is None:
        return NOTHING
    estimate = number(row[name], digits)
    if row[f"{name}_low"] is None:
        return estimate
    if row[f"{name}_low"] == row[f"{name}_high"]:
        return f"{estimate} {SAME}"
    return f"{estimate} [{number(row[f'{name}_low'], digits)}, {number(row[f'{name}_high'], digits)}]"


def text(name: str, heading: str) -> Column:
    """A column of words."""
    return Column(heading, lambda row: NOTHING if row[name] is None else str(row[name]), number=False)


def plain(name: str, heading: str, digits: int) -> Column:
    """A column of numbers."""
    return Column(heading, lambda row: number(row[name], digits))


def p_value(name: str, heading: str) -> Column:
    """A column of p values: three decimals, and no 0."""

    def shown(row: Row) -> str:
        return "< 0.001" if row[name] is not None and row[name] < 0.0005 else number(row[name], 3)

    return Column(heading, shown)


def spread(name: str, heading: str, digits: int) -> Column:
    """A column of numbers with their intervals (``NAME_low``, ``NAME_high``)."""
    return Column(heading, lambda row: interval(row, name, digits))


def mean_of(name: str) -> Column:
    """A column of means of a quantity, headed and rounded as the registry says."""
    return plain(name, quantities.ALL[name].heading, quantities.ALL[name].digits)


def interval_of(name: str) -> Column:
    """The same with intervals (``NAME_low``, ``NAME_high``)."""
    return spread(name, quantities.ALL[name].heading, quantities.ALL[name].digits)


#: how many seeds a row is of
SEEDS = Column("Seeds", lambda row: str(row["seeds"]))
#: how many valid trials a row is of
TRIALS = Column("Trials", lambda row: str(row["trials"]))
#: in how many of them the flow ended early
GAVE_UP = Column("Gave up, trials", lambda row: str(row["gave_up"]))


_INVALID = (
    text("group", "Group"),
    Column("Seed", lambda row: str(row["seed"])),
    text("reasons", "Why"),
    text("trial", "Trial"),
)

_TRACES = (
    text("trial", "Trial"),
    text("group", "Group"),
    Column("Seed", lambda row: str(row["seed"])),
    Column("Valid", lambda row: "yes" if row["valid"] else "no", number=False),
    text("packets_sha256", "SHA-256 of the packet trace"),
)


def invalid(frame: pl.DataFrame) -> Shown:
    """The trials that count for nothing, and why."""
    return shown(frame, _INVALID, "Invalid trials: kept, shown here, in no average", "invalid.csv")


def traces(frame: pl.DataFrame) -> Shown:
    """What a repetition has to reproduce."""
    return shown(frame, _TRACES, "Packet traces", "traces.csv")
