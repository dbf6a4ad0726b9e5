"""A section's table: rows of a part's frame, or crossovers: from which value one side stays ahead."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from cambrian.effects import crossover as crossing
from cambrian.effects.where import matching, require_columns
from cambrian.report import layout
from cambrian.report.charts import names
from cambrian.report.layout import Column, Row
from cambrian.report.page import MOST_ROWS
from cambrian.report.sections import Commands, Piece, Table, Words
from cambrian.report.suite.sections import Crossover, TableOf

_CROSSOVERS = (
    "The smallest measured value at which, and above which, the effect is always above {threshold:g}, "
    "with its 95 % bounds over seeds. The crossover lies between this value and the "
    "next smaller measured one. “Never”: not up to the largest measured value."
)


def rows(
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
    shown = Table(layout.shown(kept.head(MOST_ROWS), columns, table.caption or caption, f"{name}.csv"), kept)
    if kept.height <= MOST_ROWS:
        return (shown,)
    return Words((f"The first {MOST_ROWS} of {kept.height:,} rows; the CSV has all.",), found=True), shown


def _column(name: str, kind: pl.DataType, digits: int, labels: Mapping[str, str]) -> Column:
    title = names.heading(name, labels)
    if kind.is_float():
        return layout.plain(name, title, digits)
    return layout.whole(name, title) if kind.is_numeric() else layout.text(name, title)


def crossovers(
    frame: pl.DataFrame, crossover: Crossover, name: str, labels: Mapping[str, str]
) -> tuple[Piece, ...]:
    """The table of ``crossover`` on an observations frame.

    Raises:
        EffectError: the frame has no such cell or column.
    """
    found = crossing.crossovers(frame, crossover.spec, crossover.along, crossover.threshold)
    columns = [
        *(key(one, labels) for one in crossover.spec.cell if one != crossover.along),
        Column(crossover.title, _where),
        Column("95 %", _interval),
        Column("Measured", _measured),
    ]
    table = layout.shown(found, columns, crossover.title, f"{name}.csv")
    return Words((_CROSSOVERS.format(threshold=crossover.threshold),), found=True), Table(table, found)


def key(
    column: str, labels: Mapping[str, str], missing: str = layout.NOTHING, *, number: bool = True
) -> Column:
    """A column that names a row's cell."""
    return Column(names.heading(column, labels), lambda row: _plain(row[column], missing), number)


def _measured(row: Row) -> str:
    if not row["values"]:
        return "none has an effect"
    return f"{row['values']} from {row['least']:g} to {row['most']:g}"


def _where(row: Row) -> str:
    if not row["values"]:
        return layout.NOTHING
    text = _plain(row["crossover"], "never")
    return f"{text} (smallest)" if row["crossover"] is not None and row["crossover"] == row["least"] else text


def _interval(row: Row) -> str:
    if not row["has_interval"]:
        return layout.NOTHING
    low, high = (_plain(row[end], "never") for end in ("low", "high"))
    return low if low == high else f"{low} to {high}"


def _plain(value: object, missing: str) -> str:
    if value is None:
        return missing
    return f"{value:g}" if isinstance(value, float) else str(value)
