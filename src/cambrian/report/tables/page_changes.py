"""Page load time change of every contestant against one, and whether it is more than chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import polars as pl

from cambrian.metrics import pageload
from cambrian.report import layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.layout import Column, Shown
from cambrian.report.tables import rows
from cambrian.stats import compare, correction, pairs

#: place among the tables
ORDER = 32
#: false discoveries allowed among the cells of a study
_LEVEL = 0.05


def table(collected: Collected) -> pl.DataFrame | None:
    """One row a network, page and contestant other than the base; None with fewer than two.

    The base is the first contestant over kernel TCP, else the first. ``pltc_percent`` (positive: sooner than
    the base) is the mean over seeds that both have, with its bootstrap interval; ``p`` is Welch's, ``q`` its
    Benjamini–Hochberg adjustment over the study, ``hedges_g`` (positive: sooner) the effect's size.
    """
    found = [
        row
        for network in collected.networks
        for page in dict.fromkeys(cell.page for cell in collected.on(network) if cell.page)
        for row in _rows([cell for cell in collected.on(network) if cell.page == page])
    ]
    if not found:
        return None
    tested = [row for row in found if row["p"] is not None]
    for row, q in zip(tested, correction.benjamini_hochberg([row["p"] for row in tested]), strict=True):
        row["q"] = float(q)
        row["significant"] = bool(q <= _LEVEL)
    return rows.frame(found)


def _rows(cells: Sequence[Cell]) -> Iterator[rows.Row]:
    alone = [cell for cell in cells if cell.trials and len(cell.names) == 1]
    if len(alone) < 2:
        return
    base = next(
        (cell for cell in alone if cell.trials[0].trial.flows[0].contestant.stack.startswith("tcp")), alone[0]
    )
    base_ms = _times_ms(base)
    for cell in alone:
        if cell is base:
            continue
        mine_ms = _times_ms(cell)
        seeds = sorted(base_ms.keys() & mine_ms.keys())
        changes = [pageload.change_percent(base_ms[seed], mine_ms[seed]) for seed in seeds]
        row: rows.Row = {
            "network": cell.network.name,
            "page": cell.page,
            "contestant": cell.subject,
            "base": base.subject,
            "trials": len(seeds),
        }
        row |= rows.spread("pltc_percent", rows.interval(changes))
        row |= dict.fromkeys(("p", "q", "hedges_g", "significant"))
        if min(len(base_ms), len(mine_ms)) >= pairs.FEWEST_SEEDS:
            test = compare.welch(list(base_ms.values()), list(mine_ms.values()))
            row["p"] = test.p
            row["hedges_g"] = test.hedges_g if math.isfinite(test.hedges_g) else None
        yield row


def _times_ms(cell: Cell) -> dict[int, float]:
    """Page load time by seed."""
    return {
        trial.trial.seed: load.plt_ms
        for trial in cell.trials
        for load in trial.page_loads
        if load.plt_ms is not None
    }


def _change(row: rows.Row) -> str:
    text = layout.interval(row, "pltc_percent", 1)
    return text if row["significant"] else f"({text})"


def _p(value: float | None) -> str:
    if value is None:
        return layout.NOTHING
    return "< 0.001" if value < 0.001 else layout.number(value, 3)


_COLUMNS = (
    layout.text("contestant", "Contestant"),
    layout.text("base", "against"),
    layout.text("page", "Page"),
    layout.TRIALS,
    Column("Page load time change, %", _change),
    Column("Hedges’ g", lambda row: layout.number(row["hedges_g"], 1)),
    Column("p (Welch)", lambda row: _p(row["p"])),
    Column("q (Benjamini–Hochberg)", lambda row: _p(row["q"])),
)


def shown(frame: pl.DataFrame, collected: Collected) -> Shown:
    """Changes on one network, page by page."""
    del collected
    caption = (
        "Page load time change, positive where the contestant is sooner; in brackets 95 % intervals; "
        "in parentheses what is not told apart from chance (q > 0.05 over the whole study, or too few trials)"
    )
    by_page = pl.concat(frame.partition_by("page", maintain_order=True))
    return layout.shown(by_page, _COLUMNS, caption, "page_changes.csv")
