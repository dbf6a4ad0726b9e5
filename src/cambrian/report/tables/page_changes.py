"""Page load time change of every contestant against a base contestant, with tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cambrian.metrics import pageload
from cambrian.report import blocks, families, layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import page_loads, rows
from cambrian.stats import hedges, jackknife, states
from cambrian.stats.interval import FloatArray, Interval

#: the stacks of kernel TCP
_KERNEL_TCP = ("tcp", "tcp-h2")


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each network, page and contestant except the base; None with fewer than two contestants.

    The base is the first contestant over kernel TCP, or else the first. ``pltc_percent`` (positive: faster
    than the base) is the change of the mean load time, over the seeds that both have; null if a load of one
    did not end in time. Its interval, and its test ``p``, are by factors of the ratio of both means, with
    each seed left out once; ``p_bh`` is corrected over the study. ``hedges_g`` (positive: faster) is the
    logarithm of the ratio in SDs of one seed. All three are null if neither side's load times vary.
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
        change = of_arms(base_ms, mine_ms)
        row: rows.Row = {
            "network": cell.network.name,
            "page": cell.page,
            "contestant": cell.subject,
            "base": base.subject,
            "seeds": len(base_ms.keys() & mine_ms.keys()),
            "p": change.p if change else None,
            "p_bh": None,
            "hedges_g": change.hedges_g if change else None,
        }
        yield row | rows.spread("pltc_percent", change.percent if change else None)


@dataclass(frozen=True)
class Change:
    """How much faster a page loads, in percent; ``p`` and ``hedges_g`` are None without a test."""

    percent: Interval
    p: float | None
    hedges_g: float | None


def of_arms(base_ms: Mapping[int, float], mine_ms: Mapping[int, float]) -> Change | None:
    """The change of the mean of the seeds that both have; None without a seed.

    A mean of the seeds' own changes would call the other side slower, whichever it is: of two equal and
    varying times, one is on average more than 100 % of the other.
    """
    seeds = sorted(base_ms.keys() & mine_ms.keys())
    if not seeds:
        return None
    arms = [{seed: ms[seed] for seed in seeds} for ms in (mine_ms, base_ms)]
    if not any(jackknife.varies(list(arm.values())) for arm in arms):
        # what is left is the clock's resolution
        arms = [dict.fromkeys(arm, rows.mean(list(arm.values())) or 0.0) for arm in arms]
    found = jackknife.replicates(arms, lambda means: means[0] / means[1])
    ratio = jackknife.interval(found, len(seeds), "factor")
    low, middle, high = (pageload.change_percent(1.0, one) for one in (ratio.high, ratio.estimate, ratio.low))
    percent = replace(ratio, estimate=middle, low=low, high=high)
    p = jackknife.p_value(found, len(seeds), 1.0, "factor")
    return Change(percent, p, None if p is None else _effect(np.log(found)))


def _effect(log_ratios: FloatArray) -> float:
    """Hedges' g of a logarithm of a ratio, and that without each seed; positive if the ratio is below 1."""
    seeds = len(log_ratios) - 1
    sd = float(jackknife.errors(log_ratios[:, np.newaxis])[0]) * math.sqrt(seeds)
    return -float(log_ratios[0]) / sd * hedges.correction(seeds - 1)


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
