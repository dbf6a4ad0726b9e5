"""The table of stacks, for people and for programs."""

from __future__ import annotations

import json

from rich.console import Console
from rich.table import Table

from cambrian.stacks import build, catalogue


def rows() -> list[dict[str, object]]:
    """One row a stack: what it is, what it confirms and exports, and its build's state."""
    found = []
    for name, stack in catalogue.load().items():
        said = stack.manifest
        status = build.status(stack)
        found.append(
            {
                "name": name,
                "version": said.version,
                "licence": said.licence,
                "language": said.language,
                "ccas": list(said.ccas),
                "cca_confirmed": said.cca_readback,
                "transport_trace": said.transport_trace,
                "build": status.state,
                "remedy": status.remedy,
                "notes": list(said.notes),
            }
        )
    return found


def show(console: Console, *, as_json: bool) -> None:
    """Print :func:`rows`."""
    found = rows()
    if as_json:
        print(json.dumps(found, indent=1))
        return
    table = Table("stack", "version", "licence", "language", "CCAs", "CCA confirmed", "exports", "build")
    exports = {"log": "cwnd, RTT, state", "tcp_probe": "cwnd, RTT, state", "none": "nothing"}
    for row in found:
        ccas = row["ccas"]
        assert isinstance(ccas, list)
        table.add_row(
            str(row["name"]),
            str(row["version"]),
            str(row["licence"]),
            str(row["language"]),
            ", ".join(ccas),
            "yes" if row["cca_confirmed"] else "no",
            exports[str(row["transport_trace"])],
            str(row["build"]) + (f": {row['remedy']}" if row["remedy"] else ""),
        )
    console.print(table)
