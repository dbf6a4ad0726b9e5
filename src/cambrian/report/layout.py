"""How the page shows a table: its columns with headings and units, its numbers as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

Row = dict[str, Any]
#: a table with more rows is closed at first
MOST_OPEN_ROWS = 30
#: the text of an empty cell
NOTHING = "–"
#: follows a figure that is the same in every seed
SAME = "="
#: the part of a caption about intervals
BRACKETS = "in brackets: 95 % intervals over seeds; “=”: the same value in every seed"


@dataclass(frozen=True)
class Column:
    """A column of the page: its heading, and the function that makes a row's text."""

    heading: str
    show: Callable[[Row], str]
    #: numbers stand right-aligned
    number: bool = True


@dataclass(frozen=True)
class Shown:
    """A table as the page has it; the first column names the row. ``csv`` is the file with all columns."""

    caption: str
    headings: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    csv: str
    #: a detail: closed at first
    folded: bool = False
    #: several columns name a row, so a narrow page needs the first one's heading, too
    keyed: bool = False

    @property
    def is_closed(self) -> bool:
        """Is the table closed at first?"""
        return self.folded or len(self.rows) > MOST_OPEN_ROWS


def shown(
    frame: pl.DataFrame, columns: Sequence[Column], caption: str, csv: str, *, folded: bool = False
) -> Shown:
    """The rows of ``frame`` as text, shown by ``columns``."""
    return Shown(
        caption=caption,
        headings=tuple(column.heading for column in columns),
        numbers=tuple(column.number for column in columns),
        rows=tuple(tuple(column.show(row) for column in columns) for row in frame.to_dicts()),
        csv=csv,
        folded=folded,
    )


def number(value: float | None, digits: int) -> str:
    """The value with ``digits`` decimals and a true minus sign; a dash for None."""
    if value is None:
        return NOTHING
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def decimals(size: float) -> int:
    """Decimals that show ``size`` with two significant digits; at most four."""
    return min(max(1 - math.floor(math.log10(size)), 0), 4) if size > 0 else 1


def joined(items: list[str]) -> str:
    """``a, b and c``."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


def interval(row: Row, name: str, digits: int) -> str:
    """``0.83 [0.71, 0.90]``; ``0.83`` without an interval, ``0.83 =`` if every seed gave the same value."""
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


def whole(name: str, heading: str) -> Column:
    """A column of whole numbers."""
    return Column(heading, lambda row: NOTHING if row[name] is None else f"{row[name]:,}")


def p_value(name: str, heading: str) -> Column:
    """A column of p values."""
    return Column(heading, lambda row: p_text(row[name]))


def p_text(p: float | None) -> str:
    """A p value with three decimals, the smallest as ``< 0.001``."""
    return "< 0.001" if p is not None and p < 0.0005 else number(p, 3)


def p_words(p: float) -> str:
    """``p < 0.001`` or ``p = 0.012``."""
    text = p_text(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def spread(name: str, heading: str, digits: int) -> Column:
    """A column of numbers with their intervals (``NAME_low``, ``NAME_high``)."""
    return Column(heading, lambda row: interval(row, name, digits))
