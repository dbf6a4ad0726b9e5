"""Who takes whose throughput: the ratio of every pair, tested against an even split."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from cambrian.metrics import fairness
from cambrian.report import hints, layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.layout import Shown
from cambrian.report.tables import rows
from cambrian.stats.correction import benjamini_hochberg, holm
from cambrian.stats.paired import paired

#: place among the tables
ORDER = 20
#: false discovery rate at which a split counts as uneven
LEVEL = 0.05
#: fewer trials than this, and no test is made
FEWEST_TRIALS = 3
EVEN = 0.5


def table(collected: Collected) -> pl.DataFrame | None:
    """One row a pair: x's throughput ratio against y, Tx / (Tx + Ty), mean over trials.

    ``p`` is of Student's t test of the trials' ratios against 0.5, ``p_bh`` and ``p_holm``
    corrected over the pairs of different contestants on one network, ``hedges_g`` the
    effect in SDs of the ratio. A contestant against itself is even by symmetry, and not
    tested. ``x_gave_up`` and ``y_gave_up``: trials in which that flow ended early; they count with what it
    carried until then. ``cca`` is what both are called by their stacks, null where they differ.
    """
    if collected.design != "pairwise":
        return None
    ccas = {contestant.name: contestant.cca for contestant in collected.study.contestants}
    found: list[rows.Row] = []
    for network in collected.networks:
        here = [_row(cell, ccas) for cell in collected.on(network) if cell.design == "pairwise"]
        tested = [row for row in here if row["p"] is not None]
        p = [row["p"] for row in tested]
        for row, bh, by_holm in zip(tested, benjamini_hochberg(p), holm(p), strict=True):
            row |= {"p_bh": float(bh), "p_holm": float(by_holm)}
        found += [row | {"split": _split(row)} for row in here]
    return rows.frame(found)


def _row(cell: Cell, ccas: Mapping[str, str]) -> rows.Row:
    x, y = cell.names
    ratios = {
        trial.trial.seed: fairness.pair_ratio(trial.flows[0].throughput_mbps, trial.flows[1].throughput_mbps)
        for trial in cell.trials
    }
    row: rows.Row = {"network": cell.network.name, "x": x, "y": y, "trials": len(ratios)}
    for name, number in (("x_gave_up", 0), ("y_gave_up", 1)):
        row[name] = sum(trial.flows[number].ended_early for trial in cell.trials)
    row["cca"] = ccas[x] if ccas[x] == ccas[y] else None
    interval = rows.interval(list(ratios.values()))
    row |= rows.spread("ratio", interval)
    row |= rows.spread("jain", rows.interval([trial.jain for trial in cell.trials]))
    row["more_trials"] = hints.uneven(list(ratios.values()), interval) if x != y else None
    row |= dict.fromkeys(("p", "hedges_g", "p_bh", "p_holm"))
    if x != y and len(ratios) >= FEWEST_TRIALS:
        test = paired(ratios, dict.fromkeys(ratios, EVEN))
        row |= {"p": test.p, "hedges_g": rows.finite(test.hedges_gz)}
    return row


def _split(row: rows.Row) -> str:
    if row["x"] == row["y"]:
        return "itself"
    if row["p_bh"] is None:
        return "too few trials"
    return "uneven" if row["p_bh"] <= LEVEL else "not told from even"


_COLUMNS = (
    layout.text("x", "x"),
    layout.text("y", "against y"),
    layout.TRIALS,
    layout.spread("ratio", "Throughput ratio Tx / (Tx + Ty)", 2),
    layout.plain("hedges_g", "Effect, in SDs", 1),
    layout.p_value("p_bh", "p, corrected"),
    layout.text("split", "Split"),
    layout.spread("jain", "Jain’s index", 3),
)


_GAVE_UP = (
    layout.plain("x_gave_up", "x gave up, trials", 0),
    layout.plain("y_gave_up", "y gave up, trials", 0),
)


def shown(frame: pl.DataFrame, collected: Collected) -> Shown:
    """Throughput ratios of the pairs on one network."""
    del collected
    caption = "Throughput ratio of every pair; in brackets 95 % intervals"
    columns = (*_COLUMNS, hints.COLUMN) if frame["more_trials"].is_not_null().any() else _COLUMNS
    if frame.select(pl.max_horizontal("x_gave_up", "y_gave_up").max()).item():
        columns = (*columns, *_GAVE_UP)
    return layout.shown(frame, columns, caption, "pairwise.csv")
