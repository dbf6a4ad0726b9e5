"""Each flow's throughput, share, queueing delay and loss."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from cambrian.measure import quantities
from cambrian.measure.flow_window import is_sized
from cambrian.measure.trial import TrialMeasures
from cambrian.report import blocks, layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import rows

#: the column that is no mean
LONGEST = "longest_starved_s"
_LONGEST = quantities.ALL[LONGEST]
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

    ``seeds`` counts these seeds, ``trials`` the valid trials, also those of seeds with an invalid one.
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
    row[LONGEST] = max(
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


def _starved(row: rows.Row) -> str:
    if row["starved_percent"] is None:
        return layout.NOTHING
    if not row[LONGEST]:
        return "0"
    return f"{layout.number(row['starved_percent'], 1)} ({layout.number(row['longest_starved_s'], 1)})"


def _cca(row: rows.Row) -> str:
    if row["cca_requested"] is None:
        return layout.NOTHING
    return str(row["cca_confirmed"]) if row["cca_confirmed"] else f"{row['cca_requested']}, not confirmed"


def on_page(frame: pl.DataFrame, collected: Collected) -> pl.DataFrame:
    """The flows that the page shows, with their names; ``shared`` is null for shares without information."""
    mine = of_subjects(frame, collected)
    together = mine["group"].n_unique() < mine.height or mine["share_percent"].min() != 100
    shared = together and not mine["not_complete"].is_not_null().any()
    return named(mine, collected).with_columns(shared=pl.lit(True if shared else None))


def of_subjects(frame: pl.DataFrame, collected: Collected) -> pl.DataFrame:
    """Without the second flows beside a reference, which has its own row: the noise floor."""
    return frame.filter(pl.col("flow") == 0) if collected.design == "versus-reference" else frame


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


def flow_name(cell: Cell, flow: int) -> str:
    """A row's name, with the number of the flow if its contestant competes with itself as a pair."""
    is_beside_itself = cell.design == "pairwise" and cell.names[0] == cell.names[1]
    return row_name(cell, flow) + (f" (flow {flow})" if is_beside_itself else "")


def named(
    frame: pl.DataFrame, collected: Collected, name: Callable[[Cell, int], str] = flow_name
) -> pl.DataFrame:
    """A table that has ``group`` and ``flow``, with the column ``name`` for each row's flow."""
    cells = {cell.key: cell for cell in collected.cells}
    names = [name(cells[group], flow) for group, flow in frame.select("group", "flow").iter_rows()]
    return frame.with_columns(pl.Series("name", names, dtype=pl.String))
