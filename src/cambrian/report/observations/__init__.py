"""A study's observations: all that was set and measured, one row a flow of each trial of a whole seed.

A seed with an invalid trial is left out as a whole: its other order would not be balanced.

What comparisons, tests and charts over several conditions start from: pick rows, name the columns
that make a cell, and average a figure over its trials. A column that has nothing to say is null, and
is there all the same. Units are in the names; percentages are of 100.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from cambrian.report import blocks
from cambrian.report.collect import Cell, Collected
from cambrian.report.measure import TrialMeasures
from cambrian.report.observations import alike, link, measured, players, recovered, states
from cambrian.report.observations.column import Dtype, Row
from cambrian.study.model import Design

_PLACE: Mapping[str, Dtype] = {
    "trial": pl.String(),
    "seed": pl.Int64(),
    "group": pl.String(),
    "design": pl.String(),
    "subject": pl.String(),
    "reference": pl.String(),
    "lineup": pl.String(),
    "placebo": pl.Boolean(),
    "duration_s": pl.Float64(),
    "clock": pl.String(),
    "measured_from_s": pl.Float64(),
    "measured_to_s": pl.Float64(),
}


def observations(collected: Collected) -> pl.DataFrame:
    """One row a flow of each trial whose seed is whole; docs/suites.md says what each column is.

    Without the placebos of a ``pairwise`` study: they vouch for its harm, and are no pair of it.
    """
    manifests = {str(manifest["id"]): manifest for manifest in collected.manifests}
    cells = [cell for cell in collected.cells if not (cell.is_placebo and cell.design == "pairwise")]
    rows = [row for cell in cells for row in _cell(cell, collected, manifests)]
    columns = {
        **_PLACE,
        **link.COLUMNS,
        **players.COLUMNS,
        **players.option_columns(rows),
        **measured.COLUMNS,
        **alike.COLUMNS,
        **recovered.COLUMNS,
        **states.columns(rows),
    }
    return pl.DataFrame(
        {name: pl.Series([row.get(name) for row in rows], dtype=kind) for name, kind in columns.items()}
    )


def _cell(cell: Cell, collected: Collected, manifests: Mapping[str, dict[str, Any]]) -> Iterator[Row]:
    compared = alike.by_seed(cell, collected.noise_floor(cell))
    of_link = link.row(cell)
    for trial in (one for mine in blocks.whole(cell).values() for one in mine):
        common = of_link | _place(cell, trial)
        for number in range(len(trial.flows)):
            player = players.row(cell, trial, number, collected.raw, manifests[trial.id])
            row = common | player | measured.row(trial, number)
            if number == 0:
                row |= compared.get(trial.trial.seed, {})
            yield row | recovered.row(trial, number) | states.row(trial, number)


def _place(cell: Cell, trial: TrialMeasures) -> Row:
    design: Design = cell.design
    return {
        "trial": trial.id,
        "seed": trial.trial.seed,
        "group": cell.key,
        "design": design,
        "subject": cell.lineup or cell.subject,
        "reference": cell.reference,
        "lineup": cell.lineup,
        "placebo": cell.is_placebo,
        "duration_s": trial.trial.duration_s,
        "clock": trial.trial.clock,
        "measured_from_s": trial.t0_ns / 1e9,
        "measured_to_s": trial.t1_ns / 1e9,
    }
