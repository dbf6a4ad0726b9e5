"""Conformance and Conformance-T by both methods of envelopes, each compared with its noise floor."""

from __future__ import annotations

import polars as pl

from cambrian.report import conformance, families, limits, placebo
from cambrian.report.collect import Collected
from cambrian.report.conformance import seed_pairs, trials
from cambrian.report.conformance.scores import Compared
from cambrian.report.tables import noise_floor, rows


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each network, contestant and method of a ``versus-reference`` study.

    ``delta_…``: test minus reference by the best translation; mean, lowest and highest over
    the translated comparisons. ``floor_…``: the reference against itself; for deltas the mean of their
    absolute values.
    """
    if collected.design != "versus-reference":
        return None
    pairs = [
        (cell, floor)
        for cell in collected.cells
        if not cell.is_noise_floor and (floor := collected.noise_floor(cell))
    ]
    compared: list[tuple[rows.Row, Compared]] = [
        ({"network": cell.network.name, "contestant": cell.subject, "reference": cell.reference}, one)
        for (cell, _), found in zip(pairs, conformance.compare_all(pairs), strict=True)
        for one in found
    ]
    # as they are, the envelopes of imc22 are the table of conformance: one test, one family, one state
    as_there, others = (
        families.corrected_for_verdicts(
            [one.p if (one.method == trials.METHOD) is there else None for _, one in compared]
        )
        for there in (True, False)
    )
    p_corrected = [p if other is None else other for p, other in zip(as_there, others, strict=True)]
    p_t_corrected = families.corrected_for_verdicts([one.p_t for _, one in compared])
    table_rows = [
        place | _row(one, p, p_t)
        for (place, one), p, p_t in zip(compared, p_corrected, p_t_corrected, strict=True)
    ]
    for column in ("verdict", "verdict_t"):
        limits.withhold(table_rows, collected, "contestant", ("different",), column)
        placebo.withhold(table_rows, collected, within=("method",), column=column)
    return rows.frame(table_rows, "network")


def _row(one: Compared, p_corrected: float | None, p_t_corrected: float | None) -> rows.Row:
    scores, floor = one.scores, one.floor
    return {
        "method": one.method,
        "comparisons": scores.count,
        "compared": scores.what,
        "counted_percent": scores.counted_percent,
        **rows.spread("conformance", scores.conformance),
        "floor_conformance": floor.conformance.estimate if floor else None,
        **rows.spread("deficit", one.deficit),
        "p_corrected": p_corrected,
        "verdict": seed_pairs.judge(one.deficit, p_corrected, floor.conformance.estimate if floor else None),
        **rows.spread("conformance_t", scores.conformance_t),
        "floor_conformance_t": floor.conformance_t.estimate if floor else None,
        **rows.spread("deficit_t", one.deficit_t),
        "p_t_corrected": p_t_corrected,
        "verdict_t": seed_pairs.judge(
            one.deficit_t, p_t_corrected, floor.conformance_t.estimate if floor else None
        ),
        **_range("delta_throughput_mbps", scores.delta_throughput_mbps),
        "floor_throughput_moved_mbps": noise_floor.size(floor.delta_throughput_mbps) if floor else None,
        **_range("delta_delay_ms", scores.delta_delay_ms),
        "floor_delay_moved_ms": noise_floor.size(floor.delta_delay_ms) if floor else None,
    }


def _range(name: str, values: tuple[float, ...]) -> rows.Row:
    return {name: rows.mean(values), f"{name}_lowest": min(values), f"{name}_highest": max(values)}
