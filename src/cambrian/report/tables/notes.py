"""Notes of valid trials' gates."""

from __future__ import annotations

import polars as pl

from cambrian.report.collect import Collected
from cambrian.report.tables import rows

#: place among the tables
ORDER = 70
#: columns that `cambrian table` prints
PRINTED = ("group", "seed", "note")


def table(collected: Collected) -> pl.DataFrame:
    """One row for each note of a trial: what its gates could not check, or what a reader should know."""
    found = [
        rows.place(cell) | {"trial": record.id, "seed": record.seed, "note": note}
        for cell in collected.cells
        for record in cell.records
        for note in record.notes
    ]
    return rows.frame(found, "network", "group", "trial", "seed", "note")
