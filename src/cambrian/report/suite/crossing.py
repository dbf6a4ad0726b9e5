"""A section's crossovers as a table: the value of a column from which one side stays ahead."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from cambrian.effects.crossover import crossovers
from cambrian.report import layout
from cambrian.report.charts import names
from cambrian.report.layout import Column, Row
from cambrian.report.sections import Piece, Table, Words
from cambrian.report.suite.sections import Crossover

WORDS = (
    "The smallest measured value at which, and above which, the effect is always above {threshold:g}, "
    "with its 95 % bounds over seeds. The crossover lies between this value and the "
    "next smaller measured one. “Never”: not up to the largest measured value."
)


def content(
    frame: pl.DataFrame, crossover: Crossover, name: str, labels: Mapping[str, str]
) -> tuple[Piece, ...]:
    """The table of ``crossover`` on an observations frame.

    Raises:
        EffectError: the frame has no such cell or column.
    """
    crossing = crossovers(frame, crossover.spec, crossover.along, crossover.threshold)
    others = [column for column in crossover.spec.cell if column != crossover.along]
    columns = [
        *(_key(one, labels) for one in others),
        Column(crossover.title, _where),
        Column("95 %", _interval),
        Column("Measured", lambda row: f"{row['values']} from {row['least']:g} to {row['most']:g}"),
    ]
    table = layout.shown(crossing, columns, crossover.title, f"{name}.csv")
    return Words((WORDS.format(threshold=crossover.threshold),), found=True), Table(table, crossing)


def _key(column: str, labels: Mapping[str, str]) -> Column:
    return Column(names.heading(column, labels), lambda row: _plain(row[column]))


def _where(row: Row) -> str:
    if row["crossover"] is None:
        return "never"
    if row["crossover"] == row["least"]:
        return f"{row['crossover']:g} (smallest)"
    return f"{row['crossover']:g}"


def _interval(row: Row) -> str:
    if not row["has_interval"]:
        return layout.NOTHING
    low, high = (_plain(row[end], "never") for end in ("low", "high"))
    return low if low == high else f"{low} to {high}"


def _plain(value: object, missing: str = layout.NOTHING) -> str:
    if value is None:
        return missing
    return f"{value:g}" if isinstance(value, float) else str(value)
