"""How each flow detects and repairs its losses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from cambrian.metrics.columns import FloatArray
from cambrian.metrics.parameters.estimate import Estimate
from cambrian.metrics.recovery import FlowRecovery
from cambrian.report import blocks, layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import rows
from cambrian.report.tables.flows import named, not_complete, of_subjects


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each flow of each group: means over the trials of seeds whose trials are
    all valid, because the order of the flows decides what they lose; ``trials`` counts these.

    Null where no trial shows the figure (see docs/reference/metrics.md). Times are per loss episode: median
    and 95th percentile of each trial, in milliseconds and in round trips of that moment. ``tail_…``: of
    transfers of fixed size. If one was not complete (``not_complete``), there are no means: the other ones
    are the fastest. ``tail_timer_driven`` counts among the complete ones.
    """
    table_rows = [
        rows.place(cell)
        | {"flow": number, "contestant": name}
        | _flow(_recoveries(cell, number), not_complete(cell, number))
        | _responses(cell, number)
        for cell in collected.cells
        for number, name in enumerate(cell.names)
    ]
    return rows.frame(table_rows) if any(row["trials"] for row in table_rows) else None


def _recoveries(cell: Cell, number: int) -> list[FlowRecovery]:
    each = (one for trial in blocks.trials(cell) for one in trial.recoveries[number : number + 1])
    return [one for one in each if one is not None]


def _flow(trials: Sequence[FlowRecovery], unfinished: int | None) -> rows.Row:
    def mean(value: Callable[[FlowRecovery], float | None]) -> float | None:
        return rows.mean([value(trial) for trial in trials])

    row: rows.Row = {"trials": len(trials)}
    for name in ("declared", "dropped", "estimate", "low", "high"):
        key = f"false_losses_{name}" if name in ("estimate", "low", "high") else f"{name}_packets"
        row[key] = rows.mean([getattr(one.false_losses, name) for one in trials if one.false_losses])
    spare = [one.redundancy for one in trials if one.redundancy]
    row["redundant_percent"] = rows.mean([one.percent(one.redundant_bytes) for one in spare])
    row["redundant_percent_low"] = rows.mean([one.percent(one.low_bytes) for one in spare])
    row["redundant_percent_high"] = rows.mean([one.percent(one.high_bytes) for one in spare])
    row["header_bytes"] = rows.mean([one.header_bytes for one in spare])
    row["goodput_percent"] = rows.mean([one.goodput_percent for one in spare])
    row["episodes"] = mean(lambda one: float(one.episodes.count))
    row["episodes_told"] = mean(lambda one: float(np.isfinite(one.episodes.reaction_ms).sum()))
    row["earliest_ms"] = mean(lambda one: _quantile(one.episodes.earliest_ms, 0.5))
    row |= _times(trials, "reaction") | _times(trials, "recovery")
    row["timeouts"] = mean(lambda one: one.timeouts)
    tails = [one.tail for one in trials if one.tail]
    row["not_complete"] = unfinished
    for name in ("completion_ms", "ideal_ms", "longest_gap_ms", "after_last_drop_ms"):
        row[f"tail_{name}"] = rows.mean([getattr(one, name) for one in tails if not unfinished])
    row["tail_timer_driven"] = sum(one.timer_driven for one in tails) if tails else None
    return row


def _responses(cell: Cell, number: int) -> rows.Row:
    """The flow's responses to losses and marks, from its flight and window: means over trials."""
    trials = blocks.trials(cell)
    estimates = [one for trial in trials for one in (trial.parameters[number : number + 1] or ((),))[0]]

    def mean(parameter: str) -> float | None:
        values = [one.value for one in estimates if isinstance(one, Estimate) and one.parameter == parameter]
        return rows.mean(values)

    return {
        "losses_answered": mean("losses_answered"),
        "marks_answered": mean("marks_answered"),
        "cuts_per_episode": mean("cuts_per_episode"),
    }


def _times(trials: Sequence[FlowRecovery], what: str) -> rows.Row:
    row: rows.Row = {}
    for name, quantile in (("p50", 0.5), ("p95", 0.95)):
        times_ms = [getattr(one.episodes, f"{what}_ms") for one in trials]
        in_rtts = [ms / one.episodes.rtt_ms for ms, one in zip(times_ms, trials, strict=True)]
        row[f"{what}_{name}_ms"] = rows.mean([_quantile(ms, quantile) for ms in times_ms])
        row[f"{what}_{name}_rtts"] = rows.mean([_quantile(ratio, quantile) for ratio in in_rtts])
    return row


def _quantile(values: FloatArray, quantile: float) -> float | None:
    finite = values[np.isfinite(values)]
    return float(np.quantile(finite, quantile)) if len(finite) else None


def _range(row: rows.Row, name: str, what: str, digits: int) -> str:
    """``331 (320–331)``; ``331`` if the bounds equal the figure."""
    if row[name] is None:
        return layout.NOTHING
    estimate, low, high = (layout.number(row[key], digits) for key in (name, f"{what}_low", f"{what}_high"))
    return estimate if low == estimate == high else f"{estimate} ({low}–{high})"


def _false_losses(row: rows.Row) -> str:
    return _range(row, "false_losses_estimate", "false_losses", 0)


def _redundant(row: rows.Row) -> str:
    return _range(row, "redundant_percent", "redundant_percent", 2)


def on_page(frame: pl.DataFrame, collected: Collected) -> pl.DataFrame:
    """The flows with their names; none without a loss episode and without a declared loss."""
    mine = of_subjects(frame, collected)
    lost = mine.select(pl.max_horizontal("episodes", "declared_packets").max()).item()
    return named(mine if lost else mine.clear(), collected)
