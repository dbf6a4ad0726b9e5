"""Fairness between flows of one CCA: one implementation twice, or two implementations."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from cambrian.report import layout
from cambrian.report.collect import Collected
from cambrian.report.tables import pairwise, rows

_KINDS = ("one implementation twice", "two implementations")


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each network, CCA and kind of pair, over the pairs' mean Jain indices.

    ``worst`` names the pair with the lowest index; ``uneven`` counts the pairs whose split is
    uneven after correction (a contestant against itself is not tested). CCAs are compared by the names that
    stacks give them: one name may stand for different algorithms.
    """
    pairs = pairwise.table(collected)
    if pairs is None:
        return None
    table_rows = list(_rows(pairs.filter(pl.col("cca").is_not_null() & pl.col("jain").is_not_null())))
    return rows.frame(table_rows) if table_rows else None


def _rows(pairs: pl.DataFrame) -> Iterator[rows.Row]:
    for (network, cca), here in pairs.group_by(["network", "cca"], maintain_order=True):
        same = here["x"] == here["y"]
        for kind, part in zip(_KINDS, (here.filter(same), here.filter(~same)), strict=True):
            if not part.height:
                continue
            worst = part.sort("jain").row(0, named=True)
            yield {
                "network": network,
                "cca": cca,
                "kind": kind,
                "pairs": part.height,
                "jain": part["jain"].mean(),
                "jain_lowest": worst["jain"],
                "worst": worst["x"] if worst["x"] == worst["y"] else f"{worst['x']} + {worst['y']}",
                "tested": part["p_bh"].is_not_null().sum(),
                "uneven": (part["split"] == "different").sum(),
            }


def _uneven(row: rows.Row) -> str:
    return f"{row['uneven']} of {row['tested']}" if row["tested"] else layout.NOTHING
