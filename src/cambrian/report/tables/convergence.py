"""Convergence time: how long after a flow joins the flows share fairly."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence

import polars as pl

from cambrian.metrics.columns import NS_PER_S
from cambrian.metrics.convergence import Convergence
from cambrian.report import blocks, layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import rows
from cambrian.stats.interval import finite


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each group and join: in how many trials the flows converged, and when.

    ``join`` is the join's place in the order of starts. A trial with too little time after a join is missing
    from that join's row, and from no other.

    The trials are those of seeds whose trials are all valid: the order of the flows decides who joins.

    ``joiner`` is the joining flow's contestant, after its line-up, or several where start offsets make
    different flows last. ``observed_s``: the shortest time that a trial was observed. ``median_s`` is null
    if half of the trials or more did not converge. Then the median is longer than ``observed_s``; if half
    did not, it is between two trials: one that took ``median_low_s``, and one that took longer than
    ``observed_s``.
    """
    found = [row for cell in collected.cells for row in _rows(cell)]
    return rows.frame(found) if found else None


def _rows(cell: Cell) -> Sequence[rows.Row]:
    by_trial = [trial.sharing.joins for trial in blocks.trials(cell) if trial.sharing]
    by_place = defaultdict(list)
    for join in (join for joins in by_trial for join in joins):
        by_place[join.place].append(join)
    return [_row(cell, place, by_place[place]) for place in sorted(by_place)]


def _row(cell: Cell, place: int, joins: Sequence[Convergence]) -> rows.Row:
    reached = sorted(join.time_ns / NS_PER_S for join in joins if join.time_ns is not None)
    # a trial that did not converge ranks after all that did
    times = [*reached, *[float("inf")] * (len(joins) - len(reached))]
    lineup = f"{cell.lineup}: " if cell.lineup else ""
    return rows.place(cell) | {
        "join": place,
        "joiner": lineup + " or ".join(sorted({cell.names[join.flow] for join in joins})),
        "trials": len(joins),
        "reached": len(reached),
        "median_s": finite(statistics.median(times)),
        "median_low_s": finite(statistics.median_low(times)),
        "soonest_s": reached[0] if reached else None,
        "latest_s": finite(times[-1]),
        "observed_s": min(join.observed_ns for join in joins) / NS_PER_S,
    }


def _median(row: rows.Row) -> str:
    if row["median_s"] is None:
        low = f"{layout.number(row['median_low_s'], 1)} to " if row["median_low_s"] is not None else ""
        return f"{low}> {layout.number(row['observed_s'], 1)}"
    return layout.number(row["median_s"], 1)


def _range(row: rows.Row) -> str:
    if row["soonest_s"] is None:
        return layout.NOTHING
    end = f"> {layout.number(row['observed_s'], 1)}" if row["latest_s"] is None else None
    return f"{layout.number(row['soonest_s'], 1)} to {end or layout.number(row['latest_s'], 1)}"


def on_page(frame: pl.DataFrame, collected: Collected) -> pl.DataFrame:
    """The joins of a ``flows`` study; in other designs flows start at about the same time."""
    return frame if collected.design == "flows" else frame.clear()
