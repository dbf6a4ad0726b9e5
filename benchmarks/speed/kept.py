"""What the repository keeps of the figures: docs/reference/speed.json, and the page that is made of it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.speed.jobs import Found, Row
from benchmarks.speed.parts import PARTS
from benchmarks.speed.sides import ROOT

FILE = ROOT / "docs" / "reference" / "speed.json"
#: part → ``rows``, and for times ``where``: on which machine, and when
Kept = dict[str, dict[str, Any]]
#: a machine with more load than this is busy
BUSY = 0.5


def load() -> Kept:
    """What is kept; nothing before the first time."""
    kept: Kept = json.loads(FILE.read_text()) if FILE.exists() else {}
    return kept


def rows(kept: Mapping[str, Mapping[str, Any]], part: str) -> dict[str, Row]:
    """The rows of a part; none if it has not been measured."""
    found: dict[str, Row] = kept.get(part, {}).get("rows", {})
    return found


def merged(kept: Kept, found: Found, where: Mapping[str, Any]) -> Kept:
    """``kept`` with what was found: counts stack by stack, other parts as a whole, in the parts' order."""
    both = dict(kept)
    for name, new in found.items():
        # a hash says whether two runs were the same, not how fast they were
        fresh = {
            row: {quantity: value for quantity, value in one.items() if not quantity.endswith("_sha256")}
            for row, one in new.items()
        }
        if PARTS[name].exact:
            both[name] = {"rows": dict(sorted((rows(kept, name) | fresh).items()))}
        else:
            both[name] = {"where": dict(where), "rows": fresh}
    return {name: both[name] for name in PARTS if name in both}


def write(path: Path, kept: Mapping[str, Any]) -> None:
    """One row a line, so that a change is a readable difference."""
    parts = []
    for name, part in kept.items():
        where = f'  "where": {json.dumps(part["where"])},\n' if "where" in part else ""
        lines = ",\n".join(f"   {json.dumps(row)}: {json.dumps(one)}" for row, one in part["rows"].items())
        parts.append(f' {json.dumps(name)}: {{\n{where}  "rows": {{\n{lines}\n  }}\n }}')
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n")


def here() -> dict[str, Any]:
    """This machine, now."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": _commit(),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return " ".join(line.partition(":")[2].split())
    return platform.machine()


def _commit() -> str:
    """Of this checkout; empty without git."""
    argv = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
