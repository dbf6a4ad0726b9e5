"""A table of the report for a terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl
from rich import box
from rich.table import Table
from rich.text import Text

from cambrian.markdown import plain, table_lines

#: significant digits of a printed figure; the CSV has all digits
_DIGITS = 4
#: a terminal breaks longer words if the table is too wide for it
_WHOLE_CHARACTERS = 12
#: characters between two columns, and what is left of them before the first and after the last
_GAP, _EDGES = 3, 2


def terminal(frame: pl.DataFrame, columns: Sequence[str], width: int | None) -> Iterator[Table]:
    """The table for a terminal of ``width`` characters; None: as wide as the table needs.

    A figure stands with its interval, unless the interval has own columns. If all rows have the same
    network, it is the title instead of a column. What has no room in the width follows as further tables,
    each with the first column again.
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
    kept = text.select(columns[1:] if alone else columns)
    for widths in _blocks(kept, width):
        table = Table(
            title=None if title is None else Text(title),
            title_justify="left",
            box=box.SIMPLE_HEAD,
            pad_edge=False,
        )
        for name, characters in widths.items():
            table.add_column(Text(name), overflow="fold", width=characters)
        for row in kept.select(list(widths)).iter_rows():
            # a label may look like rich's markup
            table.add_row(*map(Text, row))
        yield table
        title = None


def _blocks(frame: pl.DataFrame, width: int | None) -> Iterator[dict[str, int]]:
    """Tables that have room in ``width``: column → its characters."""
    least, most = {}, {}
    for name in frame.columns:
        words = max((len(word) for words in frame[name].str.split(" ") for word in words), default=0)
        least[name] = max(len(name), min(words, _WHOLE_CHARACTERS))
        most[name] = max(least[name], *frame[name].str.len_chars())
    if width is None:
        yield most
        return
    first, *others = frame.columns
    block = [first]
    for name in others:
        if len(block) > 1 and _characters([least[one] for one in (*block, name)]) > width:
            yield _widened(block, least, most, width)
            block = [first]
        block.append(name)
    yield _widened(block, least, most, width)


def _characters(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1) + _EDGES


def _widened(names: Sequence[str], least: dict[str, int], most: dict[str, int], width: int) -> dict[str, int]:
    """The narrowest columns first get what they need of the room that is left."""
    widths = {name: least[name] for name in names}
    left = max(0, width - _characters(list(widths.values())))
    waiting = sorted(names, key=lambda name: most[name] - least[name])
    for place, name in enumerate(waiting):
        more = min(most[name] - least[name], left // (len(waiting) - place))
        widths[name] += more
        left -= more
    return widths


def markdown(frame: pl.DataFrame, columns: Sequence[str]) -> str:
    """A Markdown table."""
    rows = (list(map(plain, row)) for row in _text(frame, columns).iter_rows())
    return "\n".join(table_lines(columns, rows)) + "\n"


def chosen(frame: pl.DataFrame, wanted: Sequence[str]) -> list[str]:
    """``wanted`` itself; all columns that have a value if it is empty.

    Raises:
        KeyError: the table has no such column; its text is a message for users.
    """
    for name in wanted:
        if name not in frame.columns:
            raise KeyError(f"no column {name}: choose from {', '.join(frame.columns)}")
    return list(dict.fromkeys(wanted)) or [
        name for name in frame.columns if frame[name].null_count() < frame.height
    ]


def _text(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    rounded = frame.with_columns(pl.col(floats).round_sig_figs(_DIGITS)) if floats else frame
    return rounded.select(pl.col(name).cast(pl.String).fill_null("–") for name in columns)
