"""The trials that count for nothing, and why."""

from __future__ import annotations

import polars as pl

from cambrian.report.collect import Collected
from cambrian.report.tables import rows

#: place among the tables
ORDER = 60


def table(collected: Collected) -> pl.DataFrame:
    """One row a trial that its gates rejected, with every reason."""
    found = [
        rows.place(cell) | {"trial": record.id, "seed": record.seed, "reasons": "; ".join(record.reasons)}
        for cell in collected.cells
        for record in cell.records
        if not record.valid
    ]
    return rows.frame(found, "network", "group", "trial", "seed", "reasons")
