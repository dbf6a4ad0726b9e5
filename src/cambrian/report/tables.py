"""The report's tables as polars frames: numbers only, units in the columns' names.

Means are over valid trials, one value a trial; ``_low`` and ``_high`` are the ends of 95 %
bootstrap intervals, null where there are too few trials.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from cambrian.metrics import fairness
from cambrian.report import loads, similarity
from cambrian.report.collect import Cell, Collected
from cambrian.report.measure import TrialMeasures
from cambrian.stats import pairs
from cambrian.stats.bootstrap import bootstrap
from cambrian.stats.interval import Interval

Row = dict[str, Any]

#: figures of a :class:`~cambrian.report.similarity.Comparison` that have intervals
_LIKENESS = (
    "conformance",
    "deficit",
    "deviation",
    "deviation_sd",
    "delta_throughput_mbps",
    "delta_delay_ms",
)


def conformance(collected: Collected) -> pl.DataFrame:
    """One row a contestant and network of a ``versus-reference`` study; the noise floors have none."""
    rows = []
    for cell in collected.cells:
        if cell.design != "versus-reference" or cell.is_noise_floor:
            continue
        floor_cell = collected.noise_floor(cell)
        found = similarity.compare(cell, floor_cell) if floor_cell else None
        row: Row = {
            "network": cell.network.name,
            "contestant": cell.subject,
            "reference": cell.reference,
            "trials": len(cell.trials),
            "reference_trials": len(floor_cell.trials) if floor_cell else 0,
            "verdict": found.verdict if found else _nothing(cell, floor_cell),
        }
        for name in _LIKENESS:
            row |= _spread(name, getattr(found, name, None))
        floor = found.floor if found else None
        row["floor_pairs"] = floor.pairs if floor else None
        for name in ("mean", "lowest", "highest", "deviation_mean"):
            row[f"floor_{name}"] = getattr(floor, name, None)
        rows.append(row)
    return _frame(rows, "network")


def _nothing(cell: Cell, floor: Cell | None) -> str:
    """Why two arms cannot be compared."""
    if not cell.trials:
        return "no valid trial"
    if floor is None or not floor.trials:
        return "no valid reference trial"
    return "trials too short for an envelope"


def flows(collected: Collected) -> pl.DataFrame:
    """One row a flow of each group: its mean figures over the valid trials."""
    rows = []
    for cell in collected.cells:
        for number, name in enumerate(cell.names):
            rows.append(_place(cell) | {"flow": number, "contestant": name} | _flow(cell.trials, number))
    return _frame(rows)


def _flow(trials: Sequence[TrialMeasures], number: int) -> Row:
    mine = [trial.flows[number] for trial in trials]
    row: Row = {"trials": len(mine)}
    row |= _spread("throughput_mbps", _interval([flow.throughput_mbps for flow in mine]))
    row |= _spread("share_percent", _interval([100 * flow.share for flow in mine]))
    for name in ("delay_p50_ms", "delay_p95_ms", "delay_p99_ms", "queue_loss_percent", "random_loss_percent"):
        row[name] = _mean([getattr(flow, name) for flow in mine])
    row["completion_s"] = _mean([flow.completion_s for flow in mine])
    row["utilisation_percent"] = _mean(
        [None if trial.utilisation is None else 100 * trial.utilisation for trial in trials]
    )
    row["jain"] = _mean([trial.jain for trial in trials])
    row["cca_requested"] = mine[0].requested_cca if mine else None
    confirmed = bool(mine) and all(flow.confirmed_cca is not None for flow in mine)
    row["cca_confirmed"] = mine[0].confirmed_cca if confirmed else None
    return row


def pairwise(collected: Collected) -> pl.DataFrame:
    """One row a pair: x's throughput ratio against y, Tx / (Tx + Ty), mean over trials."""
    rows = []
    for cell in collected.cells:
        if cell.design != "pairwise":
            continue
        ratios = [
            fairness.pair_ratio(trial.flows[0].throughput_mbps, trial.flows[1].throughput_mbps)
            for trial in cell.trials
        ]
        row = {"network": cell.network.name, "x": cell.names[0], "y": cell.names[1], "trials": len(ratios)}
        rows.append(row | _spread("ratio", _interval(ratios)))
    return _frame(rows)


def trials(collected: Collected) -> pl.DataFrame:
    """One row a flow of each valid trial: what every mean in the report is a mean of."""
    rows = []
    for cell in collected.cells:
        for trial in cell.trials:
            for number, flow in enumerate(trial.flows):
                rows.append(
                    _place(cell)
                    | {"trial": trial.id, "seed": trial.trial.seed, "flow": number}
                    | {"contestant": cell.names[number], "start_ms": trial.trial.flows[number].start_ms}
                    | {"measured_from_s": trial.t0_ns / 1e9, "measured_to_s": trial.t1_ns / 1e9}
                    | vars(flow)
                    | {"jain": trial.jain, "utilisation": trial.utilisation}
                )
    return _frame(rows, "network", "group", "trial")


def invalid(collected: Collected) -> pl.DataFrame:
    """One row a trial that its gates rejected, with every reason."""
    rows = [
        _place(cell) | {"trial": record.id, "seed": record.seed, "reasons": "; ".join(record.reasons)}
        for cell in collected.cells
        for record in cell.records
        if not record.valid
    ]
    return _frame(rows, "network", "group", "trial", "seed", "reasons")


def notes(collected: Collected) -> pl.DataFrame:
    """One row a note of a trial: what its gates could not tell."""
    rows = [
        _place(cell) | {"trial": record.id, "seed": record.seed, "note": note}
        for cell in collected.cells
        for record in cell.records
        for note in record.notes
    ]
    return _frame(rows, "network", "group", "trial", "seed", "note")


def traces(collected: Collected) -> pl.DataFrame:
    """One row a trial that is there: the hash of its packet trace."""
    rows = [
        _place(cell)
        | {
            "trial": record.id,
            "seed": record.seed,
            "valid": record.valid,
            "packets_sha256": record.packets_sha256,
        }
        for cell in collected.cells
        for record in cell.records
    ]
    return _frame(rows, "network", "group", "trial", "seed", "valid", "packets_sha256")


def all_tables(collected: Collected) -> Iterator[tuple[str, pl.DataFrame]]:
    """Every table that this design has, by its file's name."""
    if collected.design == "versus-reference":
        yield "conformance", conformance(collected)
    if collected.design == "pairwise":
        yield "pairwise", pairwise(collected)
    if loads.has_any(collected):
        yield "page_loads", loads.table(collected)
    yield "flows", flows(collected)
    yield "trials", trials(collected)
    yield "invalid", invalid(collected)
    yield "notes", notes(collected)
    yield "traces", traces(collected)


def _place(cell: Cell) -> Row:
    return {"network": cell.network.name, "group": cell.key}


def _interval(values: Sequence[float]) -> Interval | None:
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return None
    found = bootstrap(finite, method="percentile")
    # of two trials the bootstrap knows no more than the two
    return found if found.n >= pairs.FEWEST_SEEDS else replace(found, low=math.nan, high=math.nan)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None and math.isfinite(value)]
    return float(np.mean(known)) if known else None


def _spread(name: str, interval: Interval | None) -> Row:
    def known(value: float) -> float | None:
        return value if math.isfinite(value) else None

    if interval is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    return {
        name: known(interval.estimate),
        f"{name}_low": known(interval.low),
        f"{name}_high": known(interval.high),
    }


def _frame(rows: Sequence[Row], *columns: str) -> pl.DataFrame:
    """Rows as a frame; without any, one that still has its ``columns``."""
    if not rows:
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    return pl.DataFrame(rows, infer_schema_length=None)
