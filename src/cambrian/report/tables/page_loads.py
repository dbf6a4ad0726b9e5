"""The table of page loads: how long each contestant took over each page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from cambrian.metrics.pageload import PageLoad
from cambrian.report import layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.layout import Column, Shown
from cambrian.stats import pairs
from cambrian.stats.bootstrap import bootstrap

Row = dict[str, Any]
#: place among the tables
ORDER = 30


def table(collected: Collected) -> pl.DataFrame | None:
    """One row a group and flow that loads a page; times in milliseconds, means over valid trials.

    ``plt_ms_low`` and ``plt_ms_high`` are the ends of the 95 % bootstrap interval, null with
    too few trials.
    """
    rows = [row for cell in collected.cells for row in _rows(cell)]
    return pl.DataFrame(rows, infer_schema_length=None) if rows else None


def _rows(cell: Cell) -> Iterator[Row]:
    flows = sorted({load.flow for trial in cell.trials for load in trial.page_loads})
    for flow in flows:
        mine = [load for trial in cell.trials for load in trial.page_loads if load.flow == flow]
        yield {
            "network": cell.network.name,
            "group": cell.key,
            "flow": flow,
            "contestant": cell.names[flow],
            "page": mine[0].page,
            "client": mine[0].client,
            "trials": len(mine),
            **_plt(mine),
            "document_ms": _mean([load.document_ms for load in mine]),
            "first_object_ms": _mean([load.first_object_ms for load in mine]),
            "last_object_ms": _mean([load.last_object_ms for load in mine]),
            "objects": mine[0].objects,
        }


def _plt(loads: Sequence[PageLoad]) -> Row:
    times = [load.plt_ms for load in loads if load.plt_ms is not None]
    row: Row = dict.fromkeys(("plt_ms", "plt_ms_low", "plt_ms_high"))
    if times:
        found = bootstrap(times, method="percentile")
        row["plt_ms"] = found.estimate
        if found.n >= pairs.FEWEST_SEEDS and math.isfinite(found.low):
            row |= {"plt_ms_low": found.low, "plt_ms_high": found.high}
    return row


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


_COLUMNS = (
    Column("Contestant", lambda row: str(row["contestant"]), number=False),
    Column("Page", lambda row: str(row["page"]), number=False),
    Column("Client", lambda row: str(row["client"]), number=False),
    Column("Trials", lambda row: str(row["trials"])),
    Column("Page load time, ms", lambda row: layout.interval(row, "plt_ms", 1)),
    Column("Document, ms", lambda row: layout.number(row["document_ms"], 1)),
    Column("First object, ms", lambda row: layout.number(row["first_object_ms"], 1)),
    Column("Last object, ms", lambda row: layout.number(row["last_object_ms"], 1)),
    Column("Objects", lambda row: str(row["objects"])),
)


def shown(frame: pl.DataFrame, collected: Collected) -> Shown:
    """The page loads of one network, page by page."""
    del collected
    caption = "Page loads, from the navigation's start; means over trials, in brackets 95 % intervals"
    by_page = pl.concat(frame.partition_by("page", maintain_order=True))
    return layout.shown(by_page, _COLUMNS, caption, "page_loads.csv")
