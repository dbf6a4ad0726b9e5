"""A table of the report for a terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from rich import box
from rich.table import Table

#: significant digits of a printed figure; the CSV has all digits
_DIGITS = 4
#: a terminal breaks longer words if the table is too wide for it
_WHOLE_CHARACTERS = 12


def terminal(frame: pl.DataFrame, columns: Sequence[str]) -> Table:
    """The table for a terminal.

    A figure stands with its interval, unless the interval has own columns. If all rows have the same
    network, it is the title instead of a column.
    """
    text = _text(frame, frame.columns)
    for name in columns:
        ends = [f"{name}_low", f"{name}_high"]
        if {*ends} <= {*frame.columns} - {*columns}:
            figure = pl.format("{} [{}, {}]", name, *ends)
            text = text.with_columns(
                pl.when(frame[ends[0]].is_null()).then(name).otherwise(figure).alias(name)
            )
    alone = columns[0] == "network" and len(columns) > 1 and text["network"].n_unique() == 1
    title = text["network"][0] if alone else None
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    kept = text.select(columns[1:] if alone else columns)
    for name in kept.columns:
        words = max(len(word) for words in kept[name].str.split(" ") for word in words)
        table.add_column(name, overflow="fold", min_width=max(len(name), min(words, _WHOLE_CHARACTERS)))
    for row in kept.iter_rows():
        table.add_row(*row)
    return table


def markdown(frame: pl.DataFrame, columns: Sequence[str]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(row) + " |" for row in _text(frame, columns).iter_rows()]
    return "\n".join(lines) + "\n"


def chosen(frame: pl.DataFrame, wanted: Sequence[str]) -> list[str]:
    """``wanted`` itself; all columns that have a value if it is empty.

    Raises:
        KeyError: the table has no such column; its text is a message for users.
    """
    for name in wanted:
        if name not in frame.columns:
            raise KeyError(f"no column {name}: choose from {', '.join(frame.columns)}")
    return [*wanted] or [name for name in frame.columns if frame[name].null_count() < frame.height]


def _text(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    rounded = frame.with_columns(pl.col(floats).round_sig_figs(_DIGITS)) if floats else frame
    return rounded.select(pl.col(name).cast(pl.String).fill_null("–") for name in columns)
