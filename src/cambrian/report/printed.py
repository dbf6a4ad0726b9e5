"""A table of the report for a terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from rich.table import Table

#: significant digits of a printed figure; the CSV has all digits
_DIGITS = 4


def terminal(frame: pl.DataFrame, columns: Sequence[str]) -> Table:
    """The table for a terminal."""
    table = Table(*columns)
    for row in _text(frame, columns).iter_rows():
        table.add_row(*row)
    return table


def markdown(frame: pl.DataFrame, columns: Sequence[str]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(row) + " |" for row in _text(frame, columns).iter_rows()]
    return "\n".join(lines) + "\n"


def chosen(frame: pl.DataFrame, wanted: str | None) -> list[str]:
    """The columns to print: those in ``wanted`` (separated by commas), or all that have a value.

    Raises:
        KeyError: the table has no such column; its text is a message for users.
    """
    if wanted is None:
        return [name for name in frame.columns if frame[name].null_count() < frame.height]
    names = [name.strip() for name in wanted.split(",")]
    for name in names:
        if name not in frame.columns:
            raise KeyError(f"no column {name}: choose from {', '.join(frame.columns)}")
    return names


def _text(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    rounded = frame.with_columns(pl.col(floats).round_sig_figs(_DIGITS)) if floats else frame
    return rounded.select(pl.col(name).cast(pl.String).fill_null("–") for name in columns)
