"""How like its reference each contestant is, beside the noise floor."""

from __future__ import annotations

import polars as pl

from cambrian.report import hints, layout, similarity
from cambrian.report.collect import Cell, Collected
from cambrian.report.layout import Column, Shown
from cambrian.report.tables import rows

#: place among the tables
ORDER = 10
#: figures of a :class:`~cambrian.report.similarity.Comparison` that have intervals
_LIKENESS = (
    "conformance",
    "deficit",
    "deviation",
    "deviation_sd",
    "delta_throughput_mbps",
    "delta_delay_ms",
)


def table(collected: Collected) -> pl.DataFrame | None:
    """One row a contestant and network of a ``versus-reference`` study; the noise floors have none."""
    if collected.design != "versus-reference":
        return None
    found = []
    for cell in collected.cells:
        if cell.is_noise_floor:
            continue
        floor_cell = collected.noise_floor(cell)
        likeness = similarity.compare(cell, floor_cell) if floor_cell else None
        row: rows.Row = {
            "network": cell.network.name,
            "contestant": cell.subject,
            "reference": cell.reference,
            "trials": len(cell.trials),
            "reference_trials": len(floor_cell.trials) if floor_cell else 0,
            "verdict": likeness.verdict if likeness else _nothing(cell, floor_cell),
        }
        for name in _LIKENESS:
            row |= rows.spread(name, getattr(likeness, name, None))
        floor = likeness.floor if likeness else None
        row["floor_pairs"] = floor.pairs if floor else None
        for name in ("mean", "lowest", "highest", "deviation_mean"):
            row[f"floor_{name}"] = getattr(floor, name, None)
        row["more_trials"] = _more(likeness, row)
        found.append(row)
    return rows.frame(found, "network")


def _nothing(cell: Cell, floor: Cell | None) -> str:
    """Why two arms cannot be compared."""
    if not cell.trials:
        return "no valid trial"
    if floor is None or not floor.trials:
        return "no valid reference trial"
    return "trials too short for an envelope"


def _more(likeness: similarity.Comparison | None, row: rows.Row) -> int | None:
    """Trials that a verdict is short of."""
    trials = min(row["trials"], row["reference_trials"])
    if likeness is None or not trials:
        return None
    return hints.below_the_floor(likeness.deficit, trials, similarity.FEWEST_TRIALS)


def _floor(row: rows.Row) -> str:
    if row["floor_mean"] is None:
        return layout.NOTHING
    if row["floor_pairs"] == 1:
        return layout.number(row["floor_mean"], 2)
    ends = f"{layout.number(row['floor_lowest'], 2)}–{layout.number(row['floor_highest'], 2)}"
    return f"{layout.number(row['floor_mean'], 2)} ({ends})"


def _trials(row: rows.Row) -> str:
    """The contestant's trials, and the reference's where they are not as many."""
    tests, references = row["trials"], row["reference_trials"]
    return str(tests) if tests == references else f"{tests} (reference {references})"


_COLUMNS = (
    Column("Contestant", lambda row: f"{row['contestant']} against {row['reference']}", number=False),
    Column("Trials", _trials),
    layout.spread("conformance", "Conformance", 2),
    Column("Noise floor, mean (range)", _floor),
    layout.spread("deficit", "Short of the floor by", 2),
    layout.text("verdict", "Noise floor"),
    layout.spread("deviation", "Deviation, raw units", 1),
    layout.spread("deviation_sd", "Deviation, in SDs", 1),
    layout.spread("delta_throughput_mbps", "Δ throughput, Mbps", 1),
    layout.spread("delta_delay_ms", "Δ delay, ms", 1),
)


def shown(frame: pl.DataFrame, collected: Collected) -> Shown:
    """Conformance and deviation on one network."""
    del collected
    caption = "Likeness to the reference, by performance envelopes; in brackets 95 % intervals"
    columns = (*_COLUMNS, hints.COLUMN) if frame["more_trials"].is_not_null().any() else _COLUMNS
    return layout.shown(frame, columns, caption, "conformance.csv")
