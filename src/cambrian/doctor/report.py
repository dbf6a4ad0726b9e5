"""Prints checks as a table or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cambrian.doctor.check import Check, State

_STYLES: dict[State, str] = {"ok": "green", "warn": "yellow", "stale": "yellow", "missing": "bold red"}


def failed(checks: Sequence[Check]) -> bool:
    """Whether a check is missing or stale, so that trials cannot run correctly."""
    return any(check.state in ("missing", "stale") for check in checks)


def render(checks: Sequence[Check], as_json: bool, *, console: Console | None = None) -> None:
    """Print the checks to standard output."""
    console = console or Console(emoji=False)
    if as_json:
        document = {"ok": not failed(checks), "checks": [asdict(check) for check in checks]}
        console.out(json.dumps(document, indent=2, ensure_ascii=False), highlight=False)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("check", "state", "found"):
        table.add_column(heading, overflow="fold")
    for check in checks:
        table.add_row(Text(check.name), Text(check.state, style=_STYLES[check.state]), Text(check.found))
        if check.remedy:
            table.add_row("", "", Text(f"→ {check.remedy}"))
    console.print(table)
