"""The table of stacks, for people and for programs."""

from __future__ import annotations

import json

from rich import box
from rich.console import Console
from rich.table import Table

from cambrian.stacks import build, catalogue, unavailable

_EXPORTS = {"log": "cwnd", "tcp_probe": "cwnd", "qlog": "qlog", "none": "nothing"}
#: CCAs of one stack that a terminal's table names
_CCAS_SHOWN = 6


def rows() -> list[dict[str, object]]:
    """One row a stack: what it is, what it confirms and exports, and its build's state.

    Stacks that no registry offers come last, with ``build`` "not available" and ``why``.
    """
    found: list[dict[str, object]] = []
    for name, stack in catalogue.load().items():
        said = stack.manifest
        status = build.status(stack)
        found.append(
            {
                "name": name,
                "title": said.title or name,
                "version": said.version,
                "licence": said.licence,
                "language": said.language,
                "protocol": said.protocol,
                "alpns": list(said.alpns),
                "ccas": list(said.ccas),
                "cca_confirmed": said.cca_readback,
                "transport_trace": said.transport_trace,
                "client": said.client is not None and said.client.stack is None,
                "build": status.state,
                "remedy": status.remedy,
                "notes": list(said.notes),
            }
        )
    for name, missing in unavailable.load().items():
        if name not in catalogue.load():
            found.append(
                {
                    "name": name,
                    "title": missing.title,
                    "language": missing.language,
                    "ccas": list(missing.ccas),
                    "build": "not available",
                    "why": missing.why,
                    "remedy": unavailable.REMEDY,
                }
            )
    return found


def show(console: Console, *, as_json: bool) -> None:
    """Print :func:`rows`."""
    found = rows()
    if as_json:
        print(json.dumps(found, indent=1))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("stack", no_wrap=True)
    table.add_column("version, language, licence", ratio=5, overflow="fold")
    table.add_column("CCAs", ratio=5, overflow="fold")
    table.add_column("confirms, exports", ratio=3)
    table.add_column("state")
    missing = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    missing.add_column("not available", no_wrap=True)
    missing.add_column("why")
    for row in found:
        if row["build"] == "not available":
            missing.add_row(str(row["name"]), f"{row['title']}, {row['language']}: {row['why']}")
            continue
        table.add_row(
            str(row["name"]),
            f"{row['version']}, {row['language']}, {row['licence']}",
            _shortened(row["ccas"]),
            f"{'CCA' if row['cca_confirmed'] else 'no CCA'}, {_EXPORTS[str(row['transport_trace'])]}",
            str(row["build"]),
        )
    console.print(table)
    console.print(missing)
    console.print(f"To bring one of these or any other: {unavailable.REMEDY}", markup=False, soft_wrap=True)
    unbuilt = [row for row in found if row["build"] == "unbuildable"]
    for row in unbuilt:
        console.print(
            f"{row['name']} cannot be built here; remedy: {row['remedy']}", markup=False, soft_wrap=True
        )


def _shortened(ccas: object) -> str:
    assert isinstance(ccas, list)
    more = len(ccas) - _CCAS_SHOWN
    return ", ".join(ccas[:_CCAS_SHOWN]) + (f" and {more} more (--json has all)" if more > 0 else "")
