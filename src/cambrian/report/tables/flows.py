"""Each flow's throughput, share, queueing delay and loss."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from cambrian.measure import quantities
from cambrian.measure.flow_window import is_sized
from cambrian.measure.trial import TrialMeasures
from cambrian.report import blocks, layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.layout import Column, Shown
from cambrian.report.tables import rows

#: place among the tables
ORDER = 40
#: columns that `cambrian table` prints
PRINTED = ("group", "contestant", "throughput_mbps", "share_percent", "delay_p50_ms")
_LONGEST = quantities.ALL["longest_starved_s"]
#: shown as means without intervals
_MEANS = (
    "delay_p50_ms",
    "delay_p95_ms",
    "delay_p99_ms",
    "queue_loss_percent",
    "random_loss_percent",
    "utilisation_percent",
    "jain",
    "fetch_s",
    "completion_s",
)


def table(collected: Collected) -> pl.DataFrame:
    """One row for each flow of each group: means over the seeds whose trials are all valid.

    ``gave_up``: trials in which the flow ended early; they count with the bytes carried until then.
    ``longest_starved_s``: the longest of all trials, no mean. ``not_complete``: transfers and page loads that
    were not complete at the trial's end (:func:`not_complete`). Then ``fetch_s`` and ``completion_s`` are
    null: the other ones are the fastest.
    """
    found = []
    for cell in collected.cells:
        for number, name in enumerate(cell.names):
            found.append(rows.place(cell) | {"flow": number, "contestant": name} | _flow(cell, number))
    return rows.frame(found)


def _flow(cell: Cell, number: int) -> rows.Row:
    trials = cell.trials
    mine = [trial.flows[number] for trial in trials]
    row: rows.Row = {"trials": len(mine), "seeds": len(blocks.whole(cell))}
    row["gave_up"] = sum(flow.ended_early for flow in mine)
    row["not_complete"] = not_complete(cell, number)

    def values(name: str) -> dict[int, float]:
        quantity = quantities.ALL[name]
        return blocks.by_seed(cell, lambda trial: quantity.value(trial, number))

    row |= rows.spread("throughput_mbps", rows.interval(values("throughput_mbps"), "factor"))
    row |= rows.spread("share_percent", rows.interval(values("share_percent"), "percent"))
    row |= rows.spread("of_fair_percent", rows.interval(values("of_fair_percent"), "factor"))
    row["starved_percent"] = rows.mean(list(values("starved_percent").values()))
    row["longest_starved_s"] = max(
        (one for trial in trials if (one := _LONGEST.value(trial, number)) is not None), default=None
    )
    for name in _MEANS:
        is_cut = quantities.ALL[name].of_complete and row["not_complete"]
        row[name] = None if is_cut else rows.mean(list(values(name).values()))
    row["cca_requested"] = mine[0].requested_cca if mine else None
    confirmed = bool(mine) and all(flow.confirmed_cca is not None for flow in mine)
    row["cca_confirmed"] = mine[0].confirmed_cca if confirmed else None
    return row


def not_complete(cell: Cell, number: int) -> int | None:
    """How many of a flow's transfers and page loads were not complete at the trial's end; None if endless.

    A trial whose page was not loaded in time is invalid, one whose transfer was not complete is valid.
    """
    late = cell.late_loads(number)
    if not late and not any(is_sized(trial.trial.flows[number]) for trial in cell.trials):
        return None
    return late + sum(not _is_complete(trial, number) for trial in cell.trials)


def _is_complete(trial: TrialMeasures, number: int) -> bool:
    """Was a transfer complete? One of another size than requested has no time, and is complete."""
    flow = trial.flows[number]
    transfers = bool(trial.trial.flows[number].size_bytes)
    return not transfers or flow["fetch_s"] is not None or flow["outcome"] == "finished"


def _delays(row: rows.Row) -> str:
    if row["delay_p50_ms"] is None:
        return layout.NOTHING
    return " / ".join(layout.number(row[f"delay_{name}_ms"], 1) for name in ("p50", "p95", "p99"))


def _starved(row: rows.Row) -> str:
    if row["starved_percent"] is None:
        return layout.NOTHING
    if not row["longest_starved_s"]:
        return "0"
    return f"{layout.number(row['starved_percent'], 1)} ({layout.number(row['longest_starved_s'], 1)})"


def _cca(row: rows.Row) -> str:
    if row["cca_requested"] is None:
        return layout.NOTHING
    return str(row["cca_confirmed"]) if row["cca_confirmed"] else f"{row['cca_requested']}, not confirmed"


_THROUGHPUT = layout.interval_column("throughput_mbps")
_SHARE = layout.interval_column("share_percent")
_OF_FAIR = layout.interval_column("of_fair_percent")
_STARVED = Column("Starvation, % of the time (longest of all trials, s)", _starved)
_DELAY_AND_LOSS = (
    Column("Queueing delay, ms: p50 / p95 / p99", _delays),
    layout.mean_column("queue_loss_percent"),
    layout.mean_column("random_loss_percent"),
    layout.mean_column("utilisation_percent"),
)
_JAIN = layout.mean_column("jain")
_TIMES = (layout.mean_column("fetch_s"), layout.mean_column("completion_s"))
_CCA = Column("CCA read back", _cca, number=False)


def shown(frame: pl.DataFrame, collected: Collected) -> Shown:
    """Throughput, sharing, delay and loss on one network.

    Columns without information (shares of a flow alone, completion of endless flows) are left out.
    """
    if collected.design == "versus-reference":
        # the reference has its own row: the noise floor
        frame = frame.filter(pl.col("flow") == 0)
    columns = [Column("Flow", lambda row: str(row["name"]), number=False), layout.TRIALS, _THROUGHPUT]
    shared = frame["group"].n_unique() < frame.height or frame["share_percent"].min() != 100
    sized = frame["not_complete"].is_not_null().any()
    if frame["gave_up"].max():
        columns.append(layout.GAVE_UP)
    if shared and not sized:
        columns.append(_SHARE)
    if frame["of_fair_percent"].is_not_null().any():
        columns.append(_OF_FAIR)
    if (frame["longest_starved_s"].fill_null(0) > 0).any():
        columns.append(_STARVED)
    columns += _DELAY_AND_LOSS
    if shared and not sized:
        columns.append(_JAIN)
    if frame["not_complete"].max():
        columns.append(layout.NOT_COMPLETE)
    if sized:
        columns += _TIMES
    columns.append(_CCA)
    caption = f"Throughput, queueing delay and loss, means over seeds; {layout.BRACKETS}"
    return layout.shown(named(frame, collected), columns, caption, "flows.csv")


def row_name(cell: Cell, flow: int) -> str:
    """A flow's contestant, and the contestant that it competes with."""
    name = cell.names[flow]
    if cell.is_noise_floor:
        return cell.title
    if cell.page:
        name += f" · {cell.page}"
    if len(cell.names) == 2 and cell.design != "flows":
        return f"{name} against {cell.names[1 - flow]}"
    if cell.names.count(cell.names[flow]) > 1:
        name += f" (flow {flow})"
    return f"{cell.lineup}: {name}" if cell.lineup else name


def named(
    frame: pl.DataFrame, collected: Collected, name: Callable[[Cell, int], str] = row_name
) -> pl.DataFrame:
    """A table that has ``group`` and ``flow``, with the column ``name`` for each row's flow."""
    cells = {cell.key: cell for cell in collected.cells}
    names = [name(cells[group], flow) for group, flow in frame.select("group", "flow").iter_rows()]
    return frame.with_columns(pl.Series("name", names, dtype=pl.String))
