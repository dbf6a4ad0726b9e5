"""A flow's contestant and its payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from cambrian.measure import quantities
from cambrian.measure.trial import TrialMeasures
from cambrian.report.collect import Cell, protocol_of
from cambrian.report.layout import Row
from cambrian.report.tables import flows


def row(
    cell: Cell, trial: TrialMeasures, number: int, study: dict[str, Any], manifest: dict[str, Any]
) -> Row:
    """The columns of one flow, with the study's names: a shared trial may have another study's names."""
    flow = trial.trial.flows[number]
    who, cpu = flow.contestant, flow.contestant.receiver_cpu
    columns: Row = {
        "flows": len(trial.flows),
        "flow": number,
        "position": trial.trial.positions[number],
        "contestant": cell.names[number],
        "against": cell.names[1 - number] if len(trial.flows) == 2 else None,
        "stack": who.stack,
        "cca": who.cca,
        "stack_version": manifest["stacks"][who.stack]["version"],
        "kernel_version": manifest["kernel"]["version"],
        "confirmed_cca": trial.flows[number].confirmed_cca,
        "protocol": protocol_of(study, who),
        "receiver": who.receiver,
        "tls": who.tls,
        "cpu_per_packet_us": cpu.per_packet_us if cpu else 0.0,
        "cpu_per_syscall_us": cpu.per_syscall_us if cpu else 0.0,
        "flow_rtt_ms": flow.base_rtt_ms(trial.trial.network),
        "start_ms": flow.start_ms,
        "size_bytes": flow.size_bytes or None,
        "not_complete": flows.not_complete(cell, number),
    }
    if flow.page:
        columns |= {
            "page": cell.page or flow.page.name,
            "page_objects": flow.page.count,
            "page_bytes": flow.page.size_bytes,
            "page_client": flow.client,
        }
    return columns | {f"{quantities.OPTION}{name}": value for name, value in who.options.items()}


def option_columns(rows: Sequence[Row]) -> dict[str, pl.DataType]:
    """``option.NAME`` → type, for each option of any contestant: numbers, booleans or strings.

    An option with mixed types becomes a string in all rows; ``rows`` are changed in place.
    """
    types: dict[str, pl.DataType] = {}
    for name in sorted({key for row in rows for key in row if key.startswith(quantities.OPTION)}):
        having = [row for row in rows if name in row]
        kinds = {type(row[name]) for row in having}
        if kinds == {bool}:
            types[name] = pl.Boolean()
        elif kinds <= {int, float}:
            types[name] = pl.Float64()
        else:
            types[name] = pl.String()
            for row in having:
                row[name] = str(row[name])
    return types
