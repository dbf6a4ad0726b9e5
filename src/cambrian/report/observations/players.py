"""Who a flow is, and what it carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from cambrian.report import protocols
from cambrian.report.collect import Cell
from cambrian.report.measure import TrialMeasures
from cambrian.report.observations.column import Dtype, Row

#: ``flow`` is its number in the trial, ``flows`` their count, ``position`` its place in the testbed;
#: ``against`` the other flow's contestant in a trial of two. ``size_bytes`` is null for a flow that never
#: ends, ``page_bytes`` that of the images.
COLUMNS: Mapping[str, Dtype] = {
    "flows": pl.Int64(),
    "flow": pl.Int64(),
    "position": pl.Int64(),
    "contestant": pl.String(),
    "against": pl.String(),
    "stack": pl.String(),
    "cca": pl.String(),
    "stack_version": pl.String(),
    "kernel_version": pl.String(),
    "confirmed_cca": pl.String(),
    "protocol": pl.String(),
    "receiver": pl.String(),
    "tls": pl.Boolean(),
    "cpu_per_packet_us": pl.Float64(),
    "cpu_per_syscall_us": pl.Float64(),
    "flow_rtt_ms": pl.Float64(),
    "start_ms": pl.Float64(),
    "size_bytes": pl.Int64(),
    "page": pl.String(),
    "page_objects": pl.Int64(),
    "page_bytes": pl.Int64(),
    "page_client": pl.String(),
}
_OPTION = "option."


def row(
    cell: Cell, trial: TrialMeasures, number: int, study: dict[str, Any], manifest: dict[str, Any]
) -> Row:
    """One flow. Names are the study's: a trial may keep those of another study that shares it."""
    flow = trial.trial.flows[number]
    who, cpu = flow.contestant, flow.contestant.receiver_cpu
    found: Row = {
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
        "protocol": protocols.of(study, who),
        "receiver": who.receiver,
        "tls": who.tls,
        "cpu_per_packet_us": cpu.per_packet_us if cpu else 0.0,
        "cpu_per_syscall_us": cpu.per_syscall_us if cpu else 0.0,
        "flow_rtt_ms": flow.base_rtt_ms(trial.trial.network),
        "start_ms": flow.start_ms,
        "size_bytes": flow.size_bytes or None,
    }
    if flow.page:
        found |= {
            "page": cell.page or flow.page.name,
            "page_objects": flow.page.count,
            "page_bytes": flow.page.size_bytes,
            "page_client": flow.client,
        }
    return found | {f"{_OPTION}{name}": value for name, value in who.options.items()}


def option_columns(rows: Sequence[Row]) -> dict[str, Dtype]:
    """``option.NAME`` for each option of any contestant: numbers, truths, or else (and mixed) words.

    Options that are words in some rows are words in all: the rows are changed so.
    """
    found: dict[str, Dtype] = {}
    for name in sorted({key for row in rows for key in row if key.startswith(_OPTION)}):
        having = [row for row in rows if name in row]
        kinds = {type(row[name]) for row in having}
        if kinds == {bool}:
            found[name] = pl.Boolean()
        elif kinds <= {int, float}:
            found[name] = pl.Float64()
        else:
            found[name] = pl.String()
            for row in having:
                row[name] = str(row[name])
    return found
