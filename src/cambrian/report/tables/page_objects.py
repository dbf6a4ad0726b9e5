"""Objects of each page: their waits, and the longest stall."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from cambrian.report import blocks, layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import page_loads, rows

#: the rows have the names of the table of page loads
on_page = page_loads.on_page


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each group and flow that loads a page: means of its stalls and waits over trials.

    The trials are those of seeds whose trials are all valid.

    ``late``: loads that did not end in the trial's time; the means are of the others, the fastest.
    ``stalls_after_loss``: stalls in which, or a round trip before which, the queue dropped packets of the
    flow.
    """
    found = [row for cell in collected.cells for row in _rows(cell)]
    return rows.frame(found) if found else None


def _page(cell: Cell, flow: int) -> str | None:
    """The page that a flow of a line-up loads."""
    return next((load.page for load in cell.trials[0].page_loads if load.flow == flow), None)


def _rows(cell: Cell) -> Iterator[rows.Row]:
    falls = [fall for trial in blocks.trials(cell) for fall in trial.waterfalls]
    for flow in sorted({fall.flow for fall in falls}):
        mine = [fall for fall in falls if fall.flow == flow]
        stalls = [fall.stall for fall in mine if fall.stall]
        row: rows.Row = rows.place(cell) | {
            "flow": flow,
            "contestant": cell.names[flow],
            "page": cell.page or _page(cell, flow),
            "trials": len(mine),
            "late": cell.late_loads(flow),
            "waiting_ms": rows.mean([fall.waiting_ms for fall in mine]),
            "stalls_after_loss": sum(stall.after_loss for stall in stalls),
        }
        for name in ("length_ms", "start_ms", "delivered_bytes", "released"):
            row[f"stall_{name}"] = rows.mean([float(getattr(stall, name)) for stall in stalls])
        yield row


def _delivered(row: rows.Row) -> str:
    sent = row["stall_delivered_bytes"]
    return layout.number(None if sent is None else sent / 1000, 0)


def _late(row: rows.Row) -> str:
    return str(row["late"] or "")
