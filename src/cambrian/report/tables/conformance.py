"""How like its reference each contestant is, beside the noise floor."""

from __future__ import annotations

import polars as pl

from cambrian.report import families, hints, layout, placebo, similarity
from cambrian.report.collect import Cell, Collected
from cambrian.report.layout import Column, Shown
from cambrian.report.tables import rows
from cambrian.stats import states

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
    """One row a contestant and network of a ``versus-reference`` study; the noise floors have none.

    ``p`` is of no deficit, ``p_corrected`` corrected over all rows; ``verdict`` as
    :func:`cambrian.report.similarity.judge`.
    """
    if collected.design != "versus-reference":
        return None
    compared: list[tuple[rows.Row, similarity.Comparison | None]] = []
    for cell in collected.cells:
        if cell.is_noise_floor:
            continue
        floor_cell = collected.noise_floor(cell)
        likeness = similarity.compare(cell, floor_cell) if floor_cell else None
        row: rows.Row = {
            "network": cell.network.name,
            "contestant": cell.subject,
            "reference": cell.reference,
            "seeds": len(similarity.envelopes(cell)),
            "reference_seeds": len(similarity.envelopes(floor_cell)) if floor_cell else 0,
            "verdict": None if likeness else _nothing(cell, floor_cell),
            "p": likeness.p if likeness else None,
        }
        for name in _LIKENESS:
            row |= rows.spread(name, getattr(likeness, name, None))
        floor = likeness.floor if likeness else None
        row["floor_pairs"] = floor.pairs if floor else None
        for name in ("mean", "lowest", "highest", "deviation_mean"):
            row[f"floor_{name}"] = getattr(floor, name, None)
        compared.append((row, likeness))
    p_corrected = families.of_verdicts([row["p"] for row, _ in compared])
    for (row, likeness), one in zip(compared, p_corrected, strict=True):
        row["p_corrected"] = one
        if likeness is not None:
            row["verdict"] = similarity.judge(likeness.deficit, one, row["floor_mean"])
            row["more_seeds"] = hints.more_seeds(row["verdict"], likeness.deficit, states.CONFORMANCE)
        else:
            row["more_seeds"] = None
    found = [row for row, _ in compared]
    vouching = placebo.names(collected)
    placebo.withhold(
        found,
        is_placebo=lambda row: row["contestant"] == vouching.get((row["network"], row["reference"])),
        differs=("different",),
        scope=lambda row: (row["network"], row["reference"]),
    )
    return rows.frame(found, "network")


def _nothing(cell: Cell, floor: Cell | None) -> str:
    """Why two arms cannot be compared."""
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
    """The contestant's seeds, and the reference's where they are not as many."""
    tests, references = row["seeds"], row["reference_seeds"]
    return str(tests) if tests == references else f"{tests} (reference {references})"


_COLUMNS = (
    Column("Contestant", lambda row: f"{row['contestant']} against {row['reference']}", number=False),
    Column("Seeds", _seeds),
    layout.spread("conformance", "Conformance", 2),
    Column("Noise floor, mean (range)", _floor),
    layout.spread("deficit", "Short of the floor by", 2),
    layout.p_value("p_corrected", "p, corrected"),
    layout.text("verdict", "From its reference"),
    layout.spread("deviation", "Deviation, raw units", 1),
    layout.spread("deviation_sd", "Deviation, in SDs", 1),
    layout.spread("delta_throughput_mbps", "Δ throughput, Mbps", 1),
    layout.spread("delta_delay_ms", "Δ delay, ms", 1),
)


def shown(frame: pl.DataFrame, collected: Collected) -> Shown:
    """Conformance and deviation on one network."""
    del collected
    caption = f"Likeness to the reference, by performance envelopes; {layout.BRACKETS}"
    columns = (*_COLUMNS, hints.COLUMN) if frame["more_seeds"].is_not_null().any() else _COLUMNS
    return layout.shown(frame, columns, caption, "conformance.csv")
