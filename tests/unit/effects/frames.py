"""Small observations frames with a known truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

Cell = Mapping[str, Any]


def row(cell: Cell, contestant: str, seed: int, value: float | None, flow: int = 0) -> dict[str, Any]:
    """One flow of one trial; the trial is named by all that tells it from others."""
    name = "/".join(str(part) for part in cell.values())
    return {
        "trial": f"{name}/{contestant}/{seed}",
        "seed": seed,
        "flow": flow,
        "contestant": contestant,
        **cell,
        "x": value,
    }


def frame(cells: Sequence[tuple[Cell, str, Sequence[float | None]]]) -> pl.DataFrame:
    """A frame of (cell, contestant, the values of seeds 1, 2, …)."""
    rows = [
        row(cell, contestant, seed, value)
        for cell, contestant, values in cells
        for seed, value in enumerate(values, start=1)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)
