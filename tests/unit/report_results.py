"""Copies of the committed results, changed as a test needs."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cambrian.metrics.columns import FloatArray
from cambrian.metrics.conformance import compare
from cambrian.metrics.envelope import Envelope
from cambrian.report import study_page, tables
from cambrian.report.collect import collect
from cambrian.store.results import Results

KNOBS = Path(__file__).parents[1] / "fixtures" / "runs" / "knobs"


def copy(to: Path, change: Callable[[dict[str, Any]], None] | None = None) -> Path:
    """The results under ``to``, their ``study.json`` changed in place by ``change``."""
    folder = to / "knobs"
    shutil.copytree(KNOBS, folder)
    if change:
        path = folder / "study.json"
        data = json.loads(path.read_text())
        change(data)
        path.write_text(json.dumps(data))
    return folder


def reject(folder: Path, trial: str, reason: str) -> None:
    """Make a trial invalid."""
    verdict = {"valid": False, "reasons": [reason], "notes": [], "gates": []}
    (folder / "trials" / trial / "verdict.json").write_text(json.dumps(verdict))


def group(data: dict[str, Any], subject: str) -> dict[str, Any]:
    """The group of ``study.json`` whose flow 0 is ``subject``."""
    found: dict[str, Any] = next(one for one in data["groups"] if one["subject"] == subject)
    return found


def one_group(data: dict[str, Any]) -> None:
    """The TLS trials alone: three, which a report measures in a quarter of the time."""
    data["groups"] = [group(data, "tcp cubic with TLS")]


def as_pairwise(data: dict[str, Any]) -> None:
    """The same trials, asked as a pairwise study of its four contestants."""
    data["study"]["design"] = "pairwise"
    data["study"]["contestants"] += [{"stack": "tcp", "cca": cca} for cca in ("cubic", "reno")]
    for one in data["groups"]:
        one["design"] = "pairwise"


def as_flows(data: dict[str, Any]) -> None:
    """The TLS trials alone, as a study that lists its two flows."""
    data["study"]["design"] = "flows"
    contestants = (data["study"]["contestants"][0], {"stack": "tcp", "cca": "cubic"})
    data["study"]["flows"] = [{"contestant": one} for one in contestants]
    data["study"]["contestants"] = []
    data["groups"] = [group(data, "tcp cubic with TLS")]
    data["groups"][0] |= {"design": "flows", "subject": "flows", "reference": None}


def report(folder: Path, out: Path, *, with_files: bool = False) -> Path:
    """The page of a results directory, in which nothing is kept; with its figures as files if asked."""
    found = collect(Results(folder))
    return study_page.write(found, tables.all_tables(found), out, with_files=with_files)


def noise_floor(references: Sequence[Envelope]) -> FloatArray:
    """Conformance of each reference trial with each other one: n·(n-1)/2 values."""
    pairs = itertools.combinations(references, 2)
    return np.array([compare(one, other).conformance for one, other in pairs], dtype=np.float64)
