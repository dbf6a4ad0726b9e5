"""The throughput ratio of every pair, tested against an even split."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from cambrian.measure import quantities
from cambrian.metrics import fairness
from cambrian.report import blocks, families, hints
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import rows
from cambrian.stats import states
from cambrian.stats.compare import Comparison, against

EVEN = 0.5
#: instead of a state: a contestant's split with itself is even by symmetry
ITSELF = "itself"


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each pair: x's throughput ratio against y, Tx / (Tx + Ty), mean over seeds.

    ``p`` is Student's t test of the seeds' ratios against 0.5; test and interval use the scale of log odds.
    ``p_bh`` is corrected over the pairs of different contestants on one network, ``hedges_g`` is the
    effect in SDs of the ratio, ``split`` the state (:mod:`cambrian.stats.states`). A contestant against
    itself is even by symmetry and not tested. ``x_gave_up`` and ``y_gave_up``: trials in which that flow
    ended early; they count with the bytes carried until then. ``cca`` is the stacks' name for both
    controllers, null where the names differ. Flows that load pages share nothing, so such a study has no
    table.
    """
    if collected.design != "pairwise" or any(cell.page for cell in collected.cells):
        return None
    ccas = {contestant.name: contestant.cca for contestant in collected.study.contestants}
    table_rows: list[rows.Row] = []
    for network in collected.networks:
        cells = [cell for cell in collected.on(network) if cell.design == "pairwise" and not cell.is_placebo]
        tests = [_test(cell) for cell in cells]
        p = [test.p if test else None for test in tests]
        corrected = zip(families.corrected(p), families.levels(p), strict=True)
        table_rows += [
            _row(cell, ccas, test, *one) for cell, test, one in zip(cells, tests, corrected, strict=True)
        ]
    return rows.frame(table_rows)


def _test(cell: Cell) -> Comparison | None:
    """The test of a pair; None for a contestant against itself, or without a complete seed."""
    ratios = _ratios(cell)
    return against(ratios, EVEN, "share") if ratios and cell.names[0] != cell.names[1] else None


def _ratios(cell: Cell) -> dict[int, float]:
    return blocks.by_seed(
        cell,
        lambda trial: fairness.pair_ratio(
            trial.flows[0]["throughput_mbps"], trial.flows[1]["throughput_mbps"]
        ),
    )


def _row(
    cell: Cell, ccas: Mapping[str, str], test: Comparison | None, p_bh: float | None, level: float | None
) -> rows.Row:
    x, y = cell.names
    ratios = _ratios(cell)
    row: rows.Row = {"network": cell.network.name, "x": x, "y": y}
    row |= {"trials": len(cell.trials), "seeds": len(ratios)}
    for name, number in (("x_gave_up", 0), ("y_gave_up", 1)):
        row[name] = sum(trial.flows[number].ended_early for trial in cell.trials)
    row["cca"] = ccas[x] if ccas[x] == ccas[y] else None
    interval = test.difference if test else rows.interval(ratios, "share")
    row |= rows.spread("ratio", interval)
    jain = blocks.by_seed(cell, lambda trial: trial.jain)
    row |= rows.spread("jain", rows.interval(jain, quantities.ALL["jain"].ends(len(cell.names))))
    row |= {"p": test.p if test else None, "p_bh": p_bh, "hedges_g": test.hedges_g if test else None}
    row["split"] = ITSELF if x == y else _split(test, p_bh)
    return row | hints.columns(row["split"], interval, states.SHARE, level, EVEN)


def _split(test: Comparison | None, p_bh: float | None) -> str:
    return states.state(test.difference if test else None, states.SHARE, p_bh, EVEN)
