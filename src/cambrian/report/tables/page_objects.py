"""Objects of each page: their waits, and the longest stall."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from cambrian.report import layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.layout import Column, Shown
from cambrian.report.tables import rows

#: place among the tables
ORDER = 35
#: columns that `cambrian table` prints
PRINTED = ("network", "contestant", "page", "waiting_ms", "stall_length_ms")


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each group and flow that loads a page: means of its stalls and waits over valid trials.

    ``stalls_after_loss``: stalls in which, or a round trip before which, the queue dropped packets of the
    flow.
    """
    found = [row for cell in collected.cells for row in _rows(cell)]
    return rows.frame(found) if found else None


def _page(cell: Cell, flow: int) -> str | None:
    """The page that a flow of a line-up loads."""
    return next((load.page for load in cell.trials[0].page_loads if load.flow == flow), None)


def _rows(cell: Cell) -> Iterator[rows.Row]:
    falls = [fall for trial in cell.trials for fall in trial.waterfalls]
    for flow in sorted({fall.flow for fall in falls}):
        mine = [fall for fall in falls if fall.flow == flow]
        stalls = [fall.stall for fall in mine if fall.stall]
        row: rows.Row = rows.place(cell) | {
            "flow": flow,
            "contestant": cell.names[flow],
            "page": cell.page or _page(cell, flow),
            "trials": len(mine),
            "waiting_ms": rows.mean([fall.waiting_ms for fall in mine]),
            "stalls_after_loss": sum(stall.after_loss for stall in stalls),
        }
        for name in ("length_ms", "start_ms", "delivered_bytes", "released"):
            row[f"stall_{name}"] = rows.mean([float(getattr(stall, name)) for stall in stalls])
        yield row


_COLUMNS = (
    layout.text("contestant", "Contestant"),
    layout.text("page", "Page"),
    layout.TRIALS,
    layout.plain("waiting_ms", "Wait for first byte beyond a round trip, median, ms", 1),
    layout.plain("stall_length_ms", "Longest stall, ms", 0),
    Column(
        "kB that arrived in the stall", lambda row: layout.number(_thousands(row["stall_delivered_bytes"]), 0)
    ),
    layout.plain("stall_released", "Objects that ended with the stall", 1),
    # where the other losses were is unknown
    Column("Stalls after a drop at the queue", lambda row: f"{row['stalls_after_loss']} of {row['trials']}"),
)


def _thousands(value: float | None) -> float | None:
    return None if value is None else value / 1000


def shown(frame: pl.DataFrame, collected: Collected) -> Shown:
    """Waits and stalls on one network, page by page."""
    del collected
    caption = (
        "Waits and stalls of objects, means over trials. Stall: packets arrive, but no object begins or "
        "ends. Possible causes: head-of-line blocking or a large object"
    )
    by_page = pl.concat(frame.partition_by("page", maintain_order=True))
    return layout.shown(by_page, _COLUMNS, caption, "page_objects.csv", folded=True)
