"""Results of each group's stopping rule."""

from __future__ import annotations

import polars as pl

from cambrian.report import layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import rows
from cambrian.run.measures import NAMES, UNITS
from cambrian.stats import power
from cambrian.stats.interval import Interval


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each group of a study with ``[stopping]``: the median that decided, at the end of the run.

    ``median``, its 95 % interval and ``half_width`` (as requested) are of flow 0's ``measure``,
    in its unit. ``more_seeds`` would narrow an interval that is too wide to ``half_width``.
    """
    reached = {group["key"]: group.get("stopping") for group in collected.raw["groups"]}
    found = [_row(cell, reached[cell.key]) for cell in collected.cells if reached.get(cell.key)]
    return rows.frame(found) if found else None


def _row(cell: Cell, reached: rows.Row) -> rows.Row:
    row = rows.place(cell) | {
        "contestant": cell.title,
        **{name: reached[name] for name in ("measure", "seeds", "valid", "median")},
        "median_low": reached["low"],
        "median_high": reached["high"],
        **{name: reached[name] for name in ("half_width", "stopped", "narrow", "reason")},
    }
    return row | {"more_seeds": _more(reached)}


def _more(reached: rows.Row) -> int | None:
    if reached["narrow"] or reached["low"] is None:
        return None
    ends = (reached["median"], reached["low"], reached["high"])
    interval = Interval(*ends, confidence=0.95, n=reached["valid"], method="order statistics, median")
    return power.to_shrink(interval, reached["half_width"]).more


def _median(row: rows.Row) -> str:
    return layout.interval(row, "median", 0 if row["measure"] == "plt_ms" else 2)


def _goal(row: rows.Row) -> str:
    return f"± {row['half_width']:g} {UNITS[row['measure']]}"


def _end(row: rows.Row) -> str:
    if row["narrow"]:
        return "narrow enough"
    if not row["stopped"]:
        return str(row["reason"]) if "could not run" in row["reason"] else "still running"
    if row["more_seeds"] is None:
        return str(row["reason"])
    return f"too wide; needs {row['more_seeds']:,} more seeds if the spread stays as it is"


def _measure(row: rows.Row) -> str:
    return NAMES[row["measure"]]
