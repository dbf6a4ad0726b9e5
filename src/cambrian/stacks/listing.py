"""The table of stacks, for people and for programs."""

from __future__ import annotations

import json

from rich.console import Console
from rich.table import Table

from cambrian.stacks import build, catalogue, unavailable

_EXPORTS = {
    "log": "cwnd, RTT, state",
    "tcp_probe": "cwnd, RTT, state",
    "qlog": "qlog",
    "none": "nothing",
}


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
    table = Table("stack", "version, licence, language", "CCAs", "confirms CCA", "exports", "state")
    for row in found:
        ccas = row["ccas"]
        assert isinstance(ccas, list)
        if row["build"] == "not available":
            what, confirms, exports = str(row["language"]), "", ""
            state = f"not available: {row['why']} Remedy: {row['remedy']}"
        else:
            what = f"{row['version']}, {row['licence']}, {row['language']}"
            confirms = "yes" if row["cca_confirmed"] else "no"
            exports = _EXPORTS[str(row["transport_trace"])]
            state = str(row["build"]) + (f": {row['remedy']}" if row["remedy"] else "")
        table.add_row(str(row["name"]), what, ", ".join(ccas), confirms, exports, state)
    console.print(table)
