"""The list of stacks, as a table or as JSON."""

from __future__ import annotations

import json

from rich import box
from rich.console import Console
from rich.table import Table

from cambrian.stacks import build, catalogue, unavailable

_EXPORTS = {"log": "cwnd", "tcp_probe": "cwnd", "qlog": "qlog", "none": "nothing"}
#: most CCAs of one stack in the table
_CCAS_SHOWN = 6


def rows() -> list[dict[str, object]]:
    """One row per stack: its description, what it confirms and exports, and the state of its build.

    Then the manifests that cannot be read, with ``build`` "broken" and ``why``. Stacks that no registry
    offers come last, with ``build`` "not available" and ``why``.
    """
    listed: list[dict[str, object]] = []
    for name, stack in catalogue.load().items():
        manifest = stack.manifest
        status = build.status(stack)
        listed.append(
            {
                "name": name,
                "title": manifest.title or name,
                "version": manifest.version,
                "licence": manifest.licence,
                "language": manifest.language,
                "protocol": manifest.protocol,
                "alpns": list(manifest.alpns),
                "ccas": list(manifest.ccas),
                "cca_confirmed": manifest.cca_readback,
                "transport_trace": manifest.transport_trace,
                "client": manifest.client is not None and manifest.client.stack is None,
                "build": status.state,
                "remedy": status.remedy,
                "notes": list(manifest.notes),
            }
            | ({"why": status.detail} if status.state == "broken" else {})
        )
    listed += [
        {"name": broken.name, "build": "broken", "why": broken.error, "remedy": broken.remedy}
        for broken in catalogue.load().broken.values()
    ]
    for name, missing in unavailable.load().items():
        if name not in catalogue.load():
            listed.append(
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
    return listed


def show(console: Console, *, as_json: bool) -> None:
    """Print :func:`rows`."""
    listed = rows()
    if as_json:
        print(json.dumps(listed, indent=1))
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
    for row in listed:
        if row["build"] == "not available":
            missing.add_row(str(row["name"]), f"{row['title']}, {row['language']}: {row['why']}")
            continue
        if row["build"] == "broken":
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
    console.print(f"To add one of these or another stack: {unavailable.REMEDY}", markup=False)
    for row in listed:
        if row["build"] == "broken":
            text = f"{row['name']} cannot be used: {row['why']}\n  remedy: {row['remedy']}"
            console.print(text, markup=False)
    unbuilt = [row for row in listed if row["build"] == "unbuildable"]
    for row in unbuilt:
        console.print(f"{row['name']} cannot be built here; remedy: {row['remedy']}", markup=False)


def _shortened(ccas: object) -> str:
    assert isinstance(ccas, list)
    more = len(ccas) - _CCAS_SHOWN
    return ", ".join(ccas[:_CCAS_SHOWN]) + (f" and {more} more (--json has all)" if more > 0 else "")
