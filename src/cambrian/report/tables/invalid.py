"""The invalid trials with their reasons."""

from __future__ import annotations

import polars as pl

from cambrian.report.collect import Collected
from cambrian.report.tables import rows

#: place among the tables
ORDER = 60
#: columns that `cambrian table` prints
PRINTED = ("group", "seed", "reasons")


def table(collected: Collected) -> pl.DataFrame:
    """One row for each invalid trial, with the reasons of all its gates."""
    found = [
        rows.place(cell) | {"trial": record.id, "seed": record.seed, "reasons": "; ".join(record.reasons)}
        for cell in collected.cells
        for record in cell.records
        if not record.valid
    ]
    return rows.frame(found, "network", "group", "trial", "seed", "reasons")
