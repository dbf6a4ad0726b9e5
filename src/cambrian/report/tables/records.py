"""The trials one by one: the values of their flows, and their verdicts with hashes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from cambrian.measure import quantities
from cambrian.report.collect import Collected, Record
from cambrian.report.tables import rows


def trials(collected: Collected) -> pl.DataFrame:
    """One row for each flow of each valid trial: the values behind the report's means.

    The means leave out a seed with an invalid trial (the table ``invalid`` lists that one). Its valid trials
    are here.
    """
    table_rows = []
    for cell in collected.cells:
        for trial in cell.trials:
            for number, flow in enumerate(trial.flows):
                table_rows.append(
                    rows.place(cell)
                    | {"trial": trial.id, "seed": trial.trial.seed, "flow": number}
                    | {"position": trial.trial.positions[number]}
                    | {"contestant": cell.names[number], "start_ms": trial.trial.flows[number].start_ms}
                    | {"measured_from_s": trial.t0_ns / 1e9, "measured_to_s": trial.t1_ns / 1e9}
                    | {"requested_cca": flow.requested_cca, "confirmed_cca": flow.confirmed_cca}
                    | {one.name: one.value(trial, number) for one in quantities.OF_TRIALS}
                )
    return rows.frame(table_rows, "network", "group", "trial")


def invalid(collected: Collected) -> pl.DataFrame:
    """One row for each invalid trial, with the reasons of its gates that do not follow from others."""
    found = [
        place | {"reasons": "; ".join(record.causes)}
        for place, record in _records(collected)
        if not record.valid
    ]
    return rows.frame(found, *_PLACE, "reasons")


def notes(collected: Collected) -> pl.DataFrame:
    """One row for each note of a trial: what its gates could not check, or what a reader should know."""
    found = [place | {"note": note} for place, record in _records(collected) for note in record.notes]
    return rows.frame(found, *_PLACE, "note")


@dataclass(frozen=True)
class Note:
    """A note that ``trials`` trials of a group have; ``text`` is the first trial's."""

    group: str
    text: str
    trials: int


def gathered(frame: pl.DataFrame) -> list[Note]:
    """One entry for each group, gate and flow (the text before the numbers), in order of appearance."""
    if not frame.height:
        return []
    about = pl.col("note").str.extract(r"^([^:]+:(?: flow \d+)?)").fill_null(pl.col("note"))
    grouped = (
        frame.with_columns(about=about)
        .group_by("group", "about", maintain_order=True)
        .agg(pl.col("note").first(), pl.col("trial").n_unique().alias("trials"))
    )
    return [Note(row["group"], row["note"], row["trials"]) for row in grouped.to_dicts()]


def traces(collected: Collected) -> pl.DataFrame:
    """One row for each trial that ran: the hash of its packet trace, which a repetition has to reproduce."""
    found = [
        place | {"valid": record.valid, "packets_sha256": record.packets_sha256}
        for place, record in _records(collected)
    ]
    return rows.frame(found, *_PLACE, "valid", "packets_sha256")


_PLACE = ("network", "group", "trial", "seed")


def _records(collected: Collected) -> Iterator[tuple[rows.Row, Record]]:
    """Every trial that ran, with the columns of its place."""
    for cell in collected.cells:
        for record in cell.records:
            yield rows.place(cell) | {"trial": record.id, "seed": record.seed}, record


def _valid(row: rows.Row) -> str:
    return "yes" if row["valid"] else "no"
