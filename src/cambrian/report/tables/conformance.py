"""Each contestant's conformance to its reference, compared with the noise floor."""

from __future__ import annotations

import polars as pl

from cambrian.report import families, hints, layout, limits, placebo
from cambrian.report.collect import Cell, Collected
from cambrian.report.conformance import seed_pairs
from cambrian.report.tables import rows
from cambrian.stats import states

#: figures of a :class:`~cambrian.report.conformance.seed_pairs.Comparison` that have intervals
_WITH_INTERVALS = (
    "conformance",
    "deficit",
    "deviation",
    "deviation_sd",
    "delta_throughput_mbps",
    "delta_delay_ms",
)


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each contestant and network of a ``versus-reference`` study, without the noise floors.

    ``p`` tests for no deficit, ``p_corrected`` is corrected over all rows; ``verdict`` comes from
    :func:`cambrian.report.conformance.seed_pairs.judge`. ``more_seeds`` would settle what is inconclusive, as
    ``settles_as``.
    """
    if collected.design != "versus-reference":
        return None
    compared: list[tuple[rows.Row, seed_pairs.Comparison | None]] = []
    for cell in collected.cells:
        if cell.is_noise_floor:
            continue
        floor_cell = collected.noise_floor(cell)
        comparison = seed_pairs.compare(cell, floor_cell) if floor_cell else None
        row: rows.Row = {
            "network": cell.network.name,
            "contestant": cell.subject,
            "reference": cell.reference,
            "seeds": len(seed_pairs.envelopes(cell)),
            "reference_seeds": len(seed_pairs.envelopes(floor_cell)) if floor_cell else 0,
            "verdict": None if comparison else _why_not_compared(cell, floor_cell),
            "p": comparison.p if comparison else None,
        }
        for name in _WITH_INTERVALS:
            row |= rows.spread(name, getattr(comparison, name, None))
        floor = comparison.floor if comparison else None
        row["floor_pairs"] = floor.pairs if floor else None
        for name in ("mean", "lowest", "highest", "deviation_mean"):
            row[f"floor_{name}"] = getattr(floor, name, None)
        compared.append((row, comparison))
    tested = [row["p"] for row, _ in compared]
    p_corrected, levels = families.corrected_for_verdicts(tested), families.levels_for_verdicts(tested)
    for (row, comparison), p, level in zip(compared, p_corrected, levels, strict=True):
        row["p_corrected"] = p
        if comparison is not None:
            row["verdict"] = seed_pairs.judge(comparison.deficit, p, row["floor_mean"])
        deficit = comparison.deficit if comparison else None
        possible = seed_pairs.possible(row["floor_mean"])
        arms = row["seeds"], row["reference_seeds"]
        row.update(
            hints.columns(row["verdict"], deficit, states.CONFORMANCE, level, possible=possible, arms=arms)
        )
    table_rows = [row for row, _ in compared]
    limits.withhold(table_rows, collected, "contestant", ("different",))
    placebo.withhold(table_rows, collected)
    return rows.frame(table_rows, "network")


def _why_not_compared(cell: Cell, floor: Cell | None) -> str:
    if not cell.trials:
        return "no valid trial"
    if floor is None or not floor.trials:
        return "no valid reference trial"
    return "trials too short for an envelope"


def _floor(row: rows.Row) -> str:
    if row["floor_mean"] is None:
        return layout.NOTHING
    if row["floor_pairs"] == 1:
        return layout.number(row["floor_mean"], 2)
    ends = f"{layout.number(row['floor_lowest'], 2)}–{layout.number(row['floor_highest'], 2)}"
    return f"{layout.number(row['floor_mean'], 2)} ({ends})"


def _seeds(row: rows.Row) -> str:
    """The contestant's number of seeds, and the reference's if it differs."""
    tests, references = row["seeds"], row["reference_seeds"]
    return str(tests) if tests == references else f"{tests} (reference {references})"
