"""What each flow got: throughput, sharing, queueing delay, loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import polars as pl

from cambrian.metrics.columns import NS_PER_S
from cambrian.report import blocks, layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.layout import Column, Shown
from cambrian.report.measure import TrialMeasures
from cambrian.report.tables import rows
from cambrian.stats.scale import Scale

#: place among the tables
ORDER = 40


def table(collected: Collected) -> pl.DataFrame:
    """One row a flow of each group: its mean figures over the seeds whose trials are all valid.

    ``gave_up``: trials in which it ended early, and which count with what it carried until then.
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

    def over_seeds(value: Callable[[TrialMeasures], float | None]) -> float | None:
        return rows.mean(list(blocks.by_seed(cell, value).values()))

    def spread(name: str, scale: Scale, value: Callable[[TrialMeasures], float | None]) -> rows.Row:
        return rows.spread(name, rows.interval(blocks.by_seed(cell, value), scale))

    row |= spread("throughput_mbps", "factor", lambda trial: trial.flows[number].throughput_mbps)
    row |= spread("share_percent", "percent", lambda trial: 100 * trial.flows[number].share)
    row |= spread("of_fair_percent", "factor", lambda trial: _of_fair(trial, number))
    spells = [one.starvation[number] for trial in trials if (one := trial.sharing) and one.starvation]
    row["starved_percent"] = rows.mean([100 * one.share_of_time for one in spells])
    row["longest_starved_s"] = max((one.longest_ns / NS_PER_S for one in spells), default=None)
    for name in ("delay_p50_ms", "delay_p95_ms", "delay_p99_ms", "queue_loss_percent", "random_loss_percent"):
        row[name] = over_seeds(partial(_figure, number, name))
    row["completion_s"] = over_seeds(lambda trial: trial.flows[number].completion_s)
    row["utilisation_percent"] = over_seeds(
        lambda trial: None if trial.utilisation is None else 100 * trial.utilisation
    )
    row["jain"] = over_seeds(lambda trial: trial.jain)
    row["cca_requested"] = mine[0].requested_cca if mine else None
    confirmed = bool(mine) and all(flow.confirmed_cca is not None for flow in mine)
    row["cca_confirmed"] = mine[0].confirmed_cca if confirmed else None
    return row


def _of_fair(trial: TrialMeasures, number: int) -> float | None:
    of_fair = trial.sharing.of_fair if trial.sharing else ()
    return 100 * of_fair[number] if of_fair else None


def _figure(number: int, name: str, trial: TrialMeasures) -> float | None:
    value: float | None = getattr(trial.flows[number], name)
    return value


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


_THROUGHPUT = layout.spread("throughput_mbps", "Throughput, Mbps", 1)
_SHARE = layout.spread("share_percent", "Share of throughput, %", 0)
_OF_FAIR = layout.spread("of_fair_percent", "Of its max-min fair share, %", 0)
_STARVED = Column("Starved, % of the time (longest, s)", _starved)
_DELAY_AND_LOSS = (
    Column("Queueing delay, ms: p50 / p95 / p99", _delays),
    layout.plain("queue_loss_percent", "Queue loss, %", 2),
    layout.plain("random_loss_percent", "Random loss, %", 2),
    layout.plain("utilisation_percent", "Utilisation of the link, %", 1),
)
_JAIN = layout.plain("jain", "Jain’s index", 3)
_COMPLETION = layout.plain("completion_s", "Completion, s", 2)
_CCA = Column("CCA read back", _cca, number=False)


def shown(frame: pl.DataFrame, collected: Collected) -> Shown:
    """Throughput, sharing, delay and loss on one network.

    Columns that have nothing to say here (shares of a flow alone, completion of endless
    flows) are left out.
    """
    if collected.design == "versus-reference":
        # the reference's own flow has a row of its own: the noise floor
        frame = frame.filter(pl.col("flow") == 0)
    cells = {cell.key: cell for cell in collected.cells}
    names = [row_name(cells[row["group"]], row["flow"]) for row in frame.select("group", "flow").to_dicts()]
    columns = [Column("Flow", lambda row: str(row["name"]), number=False), layout.TRIALS, _THROUGHPUT]
    shared = frame["group"].n_unique() < frame.height or frame["share_percent"].min() != 100
    sized = frame["completion_s"].is_not_null().any()
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
    if sized:
        columns.append(_COMPLETION)
    columns.append(_CCA)
    caption = f"Throughput, queueing delay and loss, means over seeds; {layout.BRACKETS}"
    named = frame.with_columns(pl.Series("name", names, dtype=pl.String))
    return layout.shown(named, columns, caption, "flows.csv")


def row_name(cell: Cell, flow: int) -> str:
    """A flow, and whom it meets."""
    name = cell.names[flow]
    if cell.is_noise_floor:
        return cell.title
    if cell.page:
        name += f" · {cell.page}"
    if len(cell.names) == 2 and cell.design != "flows":
        return f"{name} against {cell.names[1 - flow]}"
    if cell.names.count(name) > 1:
        name += f" (flow {flow})"
    return f"{cell.lineup}: {name}" if cell.lineup else name
