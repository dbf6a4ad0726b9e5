"""The quantities of each flow of each valid trial."""

from __future__ import annotations

import polars as pl

from cambrian.measure import quantities
from cambrian.report.collect import Collected
from cambrian.report.tables import rows

#: place among the tables
ORDER = 50
#: columns that `cambrian table` prints
PRINTED = ("trial", "seed", "contestant", "throughput_mbps", "share_percent")


def table(collected: Collected) -> pl.DataFrame:
    """One row for each flow of each valid trial: the values behind the report's means."""
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
