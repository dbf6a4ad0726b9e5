"""Is "takes more than" a transitive order of the contestants?"""

from __future__ import annotations

import polars as pl

from cambrian.metrics.transitivity import transitivity
from cambrian.report import layout
from cambrian.report.collect import Collected
from cambrian.report.tables import pairwise, rows

#: cycles that the page names; the CSV has all
_MOST_NAMED = 5


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each network on which a pair's split is uneven; x wins with a ratio above 0.5."""
    pairs = pairwise.table(collected)
    if pairs is None:
        return None
    table_rows = []
    for (network,), here in pairs.group_by(["network"], maintain_order=True):
        uneven = here.filter(pl.col("split") == "different").to_dicts()
        if not uneven:
            continue
        wins = [
            (row["x"], row["y"]) if row["ratio"] > pairwise.EVEN else (row["y"], row["x"]) for row in uneven
        ]
        order = transitivity(wins)
        table_rows.append(
            {
                "network": network,
                "tested": here["p_bh"].is_not_null().sum(),
                "wins": len(wins),
                "transitive": order.transitive,
                "open": order.open,
                "intransitive": len(order.cycles),
                "cycles": "; ".join(" > ".join((*cycle, cycle[0])) for cycle in order.cycles),
                "knots": "; ".join(", ".join(knot) for knot in order.knots),
            }
        )
    return rows.frame(table_rows) if table_rows else None


def _cycles(row: rows.Row) -> str:
    named = row["cycles"].split("; ") if row["cycles"] else []
    rest = len(named) - _MOST_NAMED
    return "; ".join(named[:_MOST_NAMED]) + (f"; and {rest} more" if rest > 0 else "") or layout.NOTHING


def _knots(row: rows.Row) -> str:
    return row["knots"] or layout.NOTHING
