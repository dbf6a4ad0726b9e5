"""A section's table: selected rows of a part's frame."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from cambrian.effects.where import matching, require_columns
from cambrian.report import layout
from cambrian.report.charts import names
from cambrian.report.layout import Column
from cambrian.report.page import MOST_ROWS
from cambrian.report.sections import Commands, Piece, Table, Words
from cambrian.report.suite.sections import TableOf


def content(
    frame: pl.DataFrame, table: TableOf, name: str, caption: str, labels: Mapping[str, str]
) -> tuple[Piece, ...]:
    """The rows that the section selects.

    Raises:
        EffectError: the frame has no such column.
    """
    require_columns(frame, [*table.columns, *table.sort])
    kept = matching(frame, table.where)
    if table.sort:
        kept = kept.sort(table.sort, maintain_order=True)
    kept = kept.select(table.columns) if table.columns else kept
    if kept.is_empty():
        return (Commands((), "No rows match."),)
    columns = [_column(one, kept.schema[one], table.digits, labels) for one in kept.columns]
    shown = layout.shown(kept.head(MOST_ROWS), columns, table.caption or caption, f"{name}.csv")
    if kept.height <= MOST_ROWS:
        return (Table(shown, kept),)
    return Words((f"The first {MOST_ROWS} of {kept.height:,} rows; the CSV has all.",), found=True), Table(
        shown, kept
    )


def _column(name: str, kind: pl.DataType, digits: int, labels: Mapping[str, str]) -> Column:
    title = names.heading(name, labels)
    if kind.is_float():
        return layout.plain(name, title, digits)
    if kind.is_numeric():
        return layout.whole(name, title)
    return layout.text(name, title)
