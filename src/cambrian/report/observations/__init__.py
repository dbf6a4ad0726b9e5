"""A study's observations: settings and measurements, one row for each flow of each trial of a complete seed.

A seed with an invalid trial is left out, because its orders would not be balanced.

Comparisons, tests and charts over several conditions start from observations: select rows, name the columns
that make a cell, and average a figure over its trials. A column without a value is null. The columns are
the registry's (:mod:`cambrian.measure.quantities`); this package makes the columns that state facts of the
study and those that compare one group with another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from cambrian.measure import quantities, quantity
from cambrian.measure.quantities import states
from cambrian.measure.trial import TrialMeasures
from cambrian.report import blocks
from cambrian.report.collect import Cell, Collected
from cambrian.report.layout import Row
from cambrian.report.observations import conformance, players
from cambrian.study.model import Design


def observations(collected: Collected) -> pl.DataFrame:
    """One row for each flow of each trial of a complete seed; docs/reference/quantities.md has the columns.

    The placebos of a ``pairwise`` study are left out: they only test its harm.
    """
    manifests = {str(manifest["id"]): manifest for manifest in collected.manifests}
    cells = [cell for cell in collected.cells if not (cell.is_placebo and cell.design == "pairwise")]
    rows = [row for cell in cells for row in _cell(cell, collected, manifests)]
    columns = {name: one.dtype for name, one in quantities.ALL.items()} | players.option_columns(rows)
    columns |= dict.fromkeys(sorted({name for row in rows for name in row} - columns.keys()), quantity.FLOAT)
    return pl.DataFrame(
        {name: pl.Series([row.get(name) for row in rows], dtype=kind) for name, kind in columns.items()}
    )


def _cell(cell: Cell, collected: Collected, manifests: Mapping[str, dict[str, Any]]) -> Iterator[Row]:
    compared = conformance.by_seed(cell, collected.noise_floor(cell))
    of_link = _link(cell)
    for trial in (one for mine in blocks.whole(cell).values() for one in mine):
        common = of_link | _place(cell, trial)
        for number in range(len(trial.flows)):
            player = players.row(cell, trial, number, collected.raw, manifests[trial.id])
            row = common | player
            row |= {one.name: one.value(trial, number) for one in quantities.OF_TRIALS}
            if number == 0:
                row |= compared.get(trial.trial.seed, {})
            yield row | states.unforeseen(trial, number)


def _link(cell: Cell) -> Row:
    """The group's network. The name is the study's: a trial does not keep it."""
    network = cell.network
    columns = [name for name, one in quantities.ALL.items() if one.level == "network"]
    return {name: getattr(network, name) for name in columns if hasattr(network, name)} | {
        "network": network.name,
        "burst_loss": network.burst_loss is not None,
        "buffer_bytes": cell.buffer_bytes,
        "trace": network.trace_file is not None,
        "schedule_steps": len(network.schedule),
    }


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
