"""Page load time change of every contestant against a base contestant, with tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from cambrian.metrics import pageload
from cambrian.report import blocks, families, layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import page_loads, rows
from cambrian.stats import jackknife, states
from cambrian.stats.compare import against
from cambrian.stats.interval import Interval

#: the stacks of kernel TCP
_KERNEL_TCP = ("tcp", "tcp-h2")


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each network, page and contestant except the base; None with fewer than two contestants.

    The base is the first contestant over kernel TCP, or else the first. ``pltc_percent`` (positive: faster
    than the base) is the mean over the seeds that both have; null if a load of one did not end in time. ``p``
    is Student's test of the seeds' changes, ``p_bh`` is corrected over the study, ``hedges_g`` (positive:
    faster) is the effect in SDs of the changes; all three are null if neither side's load times vary.
    ``state`` is as in :mod:`cambrian.stats.states`.
    """
    table_rows = [
        row
        for network in collected.networks
        for page in dict.fromkeys(cell.page for cell in collected.on(network) if cell.page)
        for row in _rows([cell for cell in collected.on(network) if cell.page == page])
    ]
    if not table_rows:
        return None
    p_bh = families.corrected([row["p"] for row in table_rows])
    for row, corrected in zip(table_rows, p_bh, strict=True):
        row["p_bh"] = corrected
        row["state"] = _state(row, corrected)
    return rows.frame(table_rows)


def _rows(cells: Sequence[Cell]) -> Iterator[rows.Row]:
    alone = [cell for cell in cells if cell.trials and len(cell.names) == 1]
    if len(alone) < 2:
        return
    base = next(
        (cell for cell in alone if cell.trials[0].trial.flows[0].contestant.stack in _KERNEL_TCP), alone[0]
    )
    base_ms = _times_ms(base)
    for cell in alone:
        if cell is base:
            continue
        mine_ms = _times_ms(cell)
        changes = _changes_percent(base_ms, mine_ms)
        test = against(changes, 0.0) if changes else None
        row: rows.Row = {
            "network": cell.network.name,
            "page": cell.page,
            "contestant": cell.subject,
            "base": base.subject,
            "seeds": len(changes),
            "p": test.p if test else None,
            "p_bh": None,
            "hedges_g": test.hedges_g if test else None,
        }
        yield row | rows.spread("pltc_percent", test.difference if test else None)


def _changes_percent(base_ms: dict[int, float], mine_ms: dict[int, float]) -> dict[int, float]:
    """The change of each seed that both have.

    Their mean in every seed if neither side's load time varies: what is left is the clock's resolution.
    """
    seeds = sorted(base_ms.keys() & mine_ms.keys())
    changes = {seed: pageload.change_percent(base_ms[seed], mine_ms[seed]) for seed in seeds}
    if any(jackknife.varies([ms[seed] for seed in seeds]) for ms in (base_ms, mine_ms) if seeds):
        return changes
    return dict.fromkeys(seeds, rows.mean(list(changes.values())) or 0.0)


def _state(row: rows.Row, p_bh: float | None) -> str:
    if row["pltc_percent_low"] is None:
        return "inconclusive"
    ends = (row["pltc_percent"], row["pltc_percent_low"], row["pltc_percent_high"])
    return states.state(Interval(*ends, 0.95, row["seeds"], ""), states.PERCENT, p_bh)


def _times_ms(cell: Cell) -> dict[int, float]:
    """Page load time by seed; empty if a load did not end in time."""
    return page_loads.in_time(cell, 0, blocks.by_seed(cell, lambda trial: page_loads.plt_ms(trial, 0)))


def _change(row: rows.Row) -> str:
    text = layout.interval(row, "pltc_percent", 1)
    return f"({text})" if row["state"] == "inconclusive" else text
