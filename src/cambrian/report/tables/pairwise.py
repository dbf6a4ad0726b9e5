"""The throughput ratio of every pair, tested against an even split, and what the ratios say together.

Together: fairness between flows of one CCA, and whether "takes more than" is a transitive order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import polars as pl

from cambrian.measure import quantities
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.transitivity import transitivity as ordered
from cambrian.report import blocks, families, hints, layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import rows
from cambrian.stats import states
from cambrian.stats.compare import Comparison, against, p_with_chance
from cambrian.stats.interval import Interval

EVEN = 0.5
#: instead of a state: a contestant's split with itself is even by symmetry
ITSELF = "itself"
#: kinds of pairs of one CCA
_KINDS = ("one implementation twice", "two implementations")
#: cycles that the page names; the CSV has all
_MOST_NAMED = 5


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each pair: x's throughput ratio against y, Tx / (Tx + Ty), mean over seeds.

    ``p`` is Student's t test of the seeds' ratios against 0.5; test and interval use the scale of log odds.
    It is no smaller than 2 / 2ⁿ, where n counts the trials: the chance that one flow wins all of them if
    chance alone decides who wins a trial. ``p_bh`` is corrected over the pairs of different contestants on
    one network, ``hedges_g`` is the effect in SDs of the ratio, ``split`` the state
    (:mod:`cambrian.stats.states`). A contestant against itself is even by symmetry and not tested.
    ``x_gave_up`` and ``y_gave_up``: trials in which that flow ended early; they count with the bytes carried
    until then. ``cca`` is the stacks' name for both controllers, null where the names differ. Flows that load
    pages share nothing, so such a study has no table; nor has one whose pairs have not run yet.
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
    return rows.frame(table_rows) if table_rows else None


def _test(cell: Cell) -> Comparison | None:
    """The test of a pair; None for a contestant against itself, or without a complete seed."""
    ratios = _ratios(cell)
    if not ratios or cell.names[0] == cell.names[1]:
        return None
    return against_chance(ratios, cell.orders)


def against_chance(ratios: Mapping[int, float], orders: int) -> Comparison:
    """The test of seeds' ratios, means of ``orders`` trials each, against an even split.

    Where chance decides who takes nearly all of a link, few trials that one flow wins hardly vary, and
    Student's p is tiny. So p is at least the chance that one flow wins all of them.
    """
    test = against(ratios, EVEN, "share")
    return replace(test, p=p_with_chance(test.p, orders * len(ratios)))


def _ratios(cell: Cell) -> dict[int, float]:
    return blocks.by_seed(cell, _ratio)


def _ratio(trial: TrialMeasures) -> float | None:
    """From the time when both flows have started; a pair has no flow of fixed size."""
    share_percent = trial.flows[0]["share_percent"]
    return None if share_percent is None else float(share_percent) / 100


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
    return row | _more_seeds(row["split"], interval, level, cell.orders)


def _more_seeds(split: str, interval: Interval | None, level: float | None, orders: int) -> rows.Row:
    found = hints.columns(split, interval, states.SHARE, level, EVEN)
    if found["settles_as"] == "different" and interval is not None:
        # p can only then be as small as its level
        seeds = math.ceil((1 - math.log2(states.LEVEL if level is None else level)) / orders)
        found["more_seeds"] = max(found["more_seeds"], seeds - interval.n)
    return found


def _split(test: Comparison | None, p_bh: float | None) -> str:
    return states.state(test.difference if test else None, states.SHARE, p_bh, EVEN)


def intra_cca(collected: Collected) -> pl.DataFrame | None:
    """One row for each network, CCA and kind of pair, over the pairs' mean Jain indices.

    ``worst`` names the pair with the lowest index; ``uneven`` counts the pairs whose split is
    uneven after correction (a contestant against itself is not tested). CCAs are compared by the names that
    stacks give them: one name may stand for different algorithms.
    """
    pairs = table(collected)
    if pairs is None:
        return None
    table_rows = list(_kinds(pairs.filter(pl.col("cca").is_not_null() & pl.col("jain").is_not_null())))
    return rows.frame(table_rows) if table_rows else None


def _kinds(pairs: pl.DataFrame) -> Iterator[rows.Row]:
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


def transitivity(collected: Collected) -> pl.DataFrame | None:
    """One row for each network on which a pair's split is uneven; x wins with a ratio above 0.5."""
    pairs = table(collected)
    if pairs is None:
        return None
    table_rows = []
    for (network,), here in pairs.group_by(["network"], maintain_order=True):
        uneven = here.filter(pl.col("split") == "different").to_dicts()
        if not uneven:
            continue
        wins = [(row["x"], row["y"]) if row["ratio"] > EVEN else (row["y"], row["x"]) for row in uneven]
        order = ordered(wins)
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
    rest = row["intransitive"] - _MOST_NAMED
    if rest <= 0:
        return row["cycles"] or layout.NOTHING
    return "; ".join(row["cycles"].split("; ")[:_MOST_NAMED]) + f"; and {rest} more"


def _knots(row: rows.Row) -> str:
    return row["knots"] or layout.NOTHING
