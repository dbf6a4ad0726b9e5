"""Who takes whose throughput: the ratio of every pair."""

from __future__ import annotations

import polars as pl

from cambrian.metrics import fairness
from cambrian.report import layout
from cambrian.report.collect import Collected
from cambrian.report.layout import Shown
from cambrian.report.tables import rows

#: place among the tables
ORDER = 20


def table(collected: Collected) -> pl.DataFrame | None:
    """One row a pair: x's throughput ratio against y, Tx / (Tx + Ty), mean over trials."""
    if collected.design != "pairwise":
        return None
    found = []
    for cell in collected.cells:
        ratios = [
            fairness.pair_ratio(trial.flows[0].throughput_mbps, trial.flows[1].throughput_mbps)
            for trial in cell.trials
        ]
        row = {"network": cell.network.name, "x": cell.names[0], "y": cell.names[1], "trials": len(ratios)}
        found.append(row | rows.spread("ratio", rows.interval(ratios)))
    return rows.frame(found)


_COLUMNS = (
    layout.text("x", "x"),
    layout.text("y", "against y"),
    layout.TRIALS,
    layout.spread("ratio", "Throughput ratio Tx / (Tx + Ty)", 2),
)


def shown(frame: pl.DataFrame, collected: Collected) -> Shown:
    """Throughput ratios of the pairs on one network."""
    del collected
    caption = "Throughput ratio of every pair; in brackets 95 % intervals"
    return layout.shown(frame, _COLUMNS, caption, "pairwise.csv")
