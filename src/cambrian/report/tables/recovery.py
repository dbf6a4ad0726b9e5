"""How each flow detects and repairs its losses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from cambrian.metrics.columns import FloatArray
from cambrian.metrics.parameters.estimate import Estimate
from cambrian.metrics.recovery import FlowRecovery
from cambrian.report import layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.layout import Column, Shown
from cambrian.report.tables import rows
from cambrian.report.tables.flows import named, not_complete

#: place among the tables
ORDER = 45
#: columns that `cambrian table` prints
PRINTED = ("group", "contestant", "episodes", "reaction_p50_ms", "recovery_p50_ms")


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each flow of each group: means over the valid trials.

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
    return [one for trial in cell.trials for one in trial.recoveries[number : number + 1] if one is not None]


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
    estimates = [one for trial in cell.trials for one in (trial.parameters[number : number + 1] or ((),))[0]]

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


def _range(row: rows.Row, name: str, digits: int) -> str:
    """``331 (320–331)``; ``331`` if the bounds equal the figure."""
    if row[name] is None:
        return layout.NOTHING
    estimate, low, high = (
        layout.number(row[key], digits) for key in (name, f"{_stem(name)}_low", f"{_stem(name)}_high")
    )
    return estimate if low == estimate == high else f"{estimate} ({low}–{high})"


def _stem(name: str) -> str:
    return name.removesuffix("_estimate")


def _span(row: rows.Row, what: str) -> str:
    if row[f"{what}_p50_ms"] is None:
        return layout.NOTHING
    middle, late = (layout.number(row[f"{what}_{name}_ms"], 0) for name in ("p50", "p95"))
    return f"{middle} / {late} ({layout.number(row[f'{what}_p50_rtts'], 1)} RTT)"


def _declared(row: rows.Row) -> str:
    if row["declared_packets"] is None:
        return layout.NOTHING
    return f"{layout.number(row['declared_packets'], 0)} of {layout.number(row['dropped_packets'], 0)}"


def _tail(row: rows.Row) -> str:
    if row["tail_completion_ms"] is None:
        return layout.NOTHING
    took, ideal = (layout.number(row[f"tail_{name}_ms"], 0) for name in ("completion", "ideal"))
    return f"{took} (ideal {ideal})"


#: (column of the frame that it needs, column)
_COLUMNS = (
    ("declared_packets", Column("Declared lost, of lost packets", _declared)),
    ("false_losses_estimate", Column("False losses", lambda row: _range(row, "false_losses_estimate", 0))),
    ("redundant_percent", Column("Delivered twice, %", lambda row: _range(row, "redundant_percent", 2))),
    ("goodput_percent", layout.mean_column("goodput_percent")),
    ("reaction_p50_ms", layout.plain("episodes", "Loss episodes at the queue", 0)),
    ("reaction_p50_ms", layout.plain("earliest_ms", "Earliest detection, ms", 0)),
    ("reaction_p50_ms", Column("Reaction time, ms: p50 / p95", lambda row: _span(row, "reaction"))),
    ("recovery_p50_ms", Column("Recovery time, ms: p50 / p95", lambda row: _span(row, "recovery"))),
    ("losses_answered", layout.plain("losses_answered", "Losses with a lasting reduction, share", 2)),
    ("marks_answered", layout.plain("marks_answered", "Marks with a lasting reduction, share", 2)),
    ("cuts_per_episode", layout.plain("cuts_per_episode", "Reductions per episode", 1)),
    ("timeouts", layout.mean_column("timeouts")),
    ("tail_completion_ms", Column("Completion, ms", _tail)),
    ("tail_timer_driven", layout.plain("tail_timer_driven", "Tails that waited for a timer", 0)),
)


def shown(frame: pl.DataFrame, collected: Collected) -> Shown | None:
    """Loss recovery on one network; None without a loss episode and without a declared loss."""
    if collected.design == "versus-reference":
        frame = frame.filter(pl.col("flow") == 0)
    lost = frame.select(pl.max_horizontal("episodes", "declared_packets").max()).item()
    if not lost:
        return None
    columns = [Column("Flow", lambda row: str(row["name"]), number=False), layout.TRIALS]
    columns += [layout.NOT_COMPLETE] * bool(frame["not_complete"].max())
    columns += [column for needs, column in _COLUMNS if frame[needs].is_not_null().any()]
    caption = (
        "Loss recovery, means over trials; in brackets: bounds, because headers and the trial’s ends are "
        "uncertain; times count from the drop; –: the stack does not report it"
    )
    return layout.shown(named(frame, collected), columns, caption, "recovery.csv", folded=True)
