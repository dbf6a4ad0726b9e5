"""The hash of each packet trace, which a repetition has to reproduce."""

from __future__ import annotations

import polars as pl

from cambrian.report.collect import Collected
from cambrian.report.tables import rows

#: place among the tables
ORDER = 80
#: columns that `cambrian table` prints
PRINTED = ("trial", "seed", "packets_sha256")


def table(collected: Collected) -> pl.DataFrame:
    """One row for each trial that ran: the hash of its packet trace."""
    table_rows = [
        rows.place(cell)
        | {
            "trial": record.id,
            "seed": record.seed,
            "valid": record.valid,
            "packets_sha256": record.packets_sha256,
        }
        for cell in collected.cells
        for record in cell.records
    ]
    return rows.frame(table_rows, "network", "group", "trial", "seed", "valid", "packets_sha256")
