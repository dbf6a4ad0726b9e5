"""Prints what :mod:`cambrian.doctor.store` finds, as lines or as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from rich.console import Console

from cambrian.doctor.store import Cure, Finding, StoreReport
from cambrian.store.check import DAMAGED
from cambrian.store.reading import READABLE

_MENDING: dict[Cure, str] = {
    "move": f"--mend moves {{target}} to {DAMAGED}/",
    "remove": "--mend removes {target}; it is made again when needed",
    "run": "a run makes it",
    "read": READABLE,
    "none": "left as it is",
}
_MENDED: dict[Cure, str] = {
    "move": f"moved {{target}} to {DAMAGED}/",
    "remove": "removed {target}; it is made again when needed",
    "run": "",
    "read": "",
    "none": "",
}


def render(reports: Sequence[StoreReport], as_json: bool, console: Console) -> None:
    """Print all findings."""
    if as_json:
        document = {
            "ok": all(report.whole for report in reports),
            "stores": [_record(report) for report in reports],
        }
        console.out(json.dumps(document, indent=2, ensure_ascii=False), highlight=False)
        return
    for report in reports:
        for finding in report.findings:
            line = f"{finding.path}: {finding.what}; {_remedy(finding, report)}"
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        console.print(_summary(report), markup=False, highlight=False, soft_wrap=True)


def _remedy(finding: Finding, report: StoreReport) -> str:
    words = (_MENDED if finding.mended else _MENDING)[finding.cure]
    return words.format(target=finding.target.relative_to(report.folder))


def _summary(report: StoreReport) -> str:
    problems = [finding for finding in report.findings if finding.is_problem]
    text = f"{report.folder}: {report.trials} trials checked; "
    if not problems:
        return text + "whole"
    text += f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
    if any(finding.cure in ("move", "remove") for finding in problems):
        return f"{text}; remedy: cambrian doctor {shlex.quote(str(report.folder))} --mend"
    if any(finding.cure == "read" for finding in problems):
        return f"{text}; remedy: {READABLE}"
    was = f" (its command: {report.command})" if report.command else ""
    return f"{text}; remedy: run the study again with the same results folder{was}"


def _record(report: StoreReport) -> dict[str, object]:
    return {
        "folder": str(report.folder),
        "ok": report.whole,
        "trials": report.trials,
        "command": report.command,
        "findings": [
            {
                "file": str(finding.path),
                "what": finding.what,
                "problem": finding.is_problem,
                "cure": finding.cure,
                "target": str(finding.target),
                "mended": finding.mended,
            }
            for finding in report.findings
        ],
    }
