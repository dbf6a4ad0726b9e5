"""Conformance of each reference with itself, by each method of envelopes: the best that contestants reach."""

from __future__ import annotations

import polars as pl

from cambrian.report import conformance, layout
from cambrian.report.collect import Collected
from cambrian.report.conformance.scores import Scores
from cambrian.report.tables import rows


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each network, reference and method of a ``versus-reference`` study.

    ``mean``, ``low``, ``high``: mean conformance over ``comparisons`` comparisons with its 95 % interval;
    ``lowest``, ``highest``: single comparisons.
    """
    if collected.design != "versus-reference":
        return None
    table_rows = [
        {
            "network": cell.network.name,
            "reference": cell.subject,
            "cca": cell.trials[0].trial.flows[0].contestant.cca,
            "method": method,
            "trials": len(cell.trials),
            "comparisons": scores.count,
            "compared": scores.what,
            **numbers(scores),
        }
        for cell in collected.cells
        if cell.is_noise_floor and cell.trials
        for method, scores in conformance.floors(cell).items()
    ]
    return rows.frame(table_rows, "network")


def numbers(scores: Scores) -> rows.Row:
    """``mean`` with ``low`` and ``high``, ``lowest``, ``highest``, and the figures after translation."""
    spread = rows.spread("mean", scores.conformance)
    return {
        "mean": spread["mean"],
        "low": spread["mean_low"],
        "high": spread["mean_high"],
        "lowest": scores.lowest,
        "highest": scores.highest,
        **rows.spread("conformance_t", scores.conformance_t),
        "throughput_moved_mbps": size(scores.delta_throughput_mbps),
        "delay_moved_ms": size(scores.delta_delay_ms),
        "counted_percent": scores.counted_percent,
    }


def size(deltas: tuple[float, ...]) -> float | None:
    """Mean absolute value of the translations' deltas."""
    return rows.mean([abs(delta) for delta in deltas])


def _mean(row: rows.Row) -> str:
    return layout.interval(row | {"mean_low": row["low"], "mean_high": row["high"]}, "mean", 2)
