"""Reads and writes results directories."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import duckdb
import polars as pl

from cambrian.testbed.contract import QdiscCounters

#: files that only trials with page loads have
_OF_PAGES = ("objects", "page_loads")


class LinkCount(NamedTuple):
    """Packets offered to a link, and packets that it lost at random (or every n-th)."""

    offered: int
    lost: int


@dataclass(frozen=True)
class TrialResult:
    """One trial's folder; files are read on first use."""

    folder: Path

    @property
    def id(self) -> str:
        """The trial's identity."""
        return self.folder.name

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The trial, its software, and the guest's counters."""
        data: dict[str, Any] = json.loads((self.folder / "manifest.json").read_text())
        return data

    @cached_property
    def verdict(self) -> dict[str, Any]:
        """``valid``, ``reasons``, ``notes``, ``flows`` (how each one ended) and ``gates``."""
        data: dict[str, Any] = json.loads((self.folder / "verdict.json").read_text())
        return data

    def flow_end(self, number: int) -> dict[str, Any]:
        """How a flow ended: ``outcome`` and ``ended_s`` of the verdict; empty if the verdict has none."""
        ends = self.verdict.get("flows", [])
        return next((end for end in ends if end["flow"] == number), {})

    @cached_property
    def packets(self) -> pl.DataFrame:
        """Each packet at the bottleneck (see docs/reference/metrics.md for the columns)."""
        return pl.read_parquet(self.folder / "packets.parquet")

    @cached_property
    def transport(self) -> pl.DataFrame:
        """Each controller event of the flows that export them."""
        return pl.read_parquet(self.folder / "transport.parquet")

    @cached_property
    def objects(self) -> pl.DataFrame:
        """Each object of the pages that the trial loaded (:data:`cambrian.trace.objects.OBJECTS`)."""
        return pl.read_parquet(self.folder / "objects.parquet")

    @cached_property
    def page_loads(self) -> pl.DataFrame:
        """Each page load of the trial (:data:`cambrian.trace.objects.PAGE_LOADS`)."""
        return pl.read_parquet(self.folder / "page_loads.parquet")

    def link_counts(self, direction: Literal["forward", "back"]) -> list[LinkCount]:
        """Packets offered to and lost by each flow's link before the bottleneck, in order of flow."""
        flows = self.manifest["guest"]["counters"]["flows"]
        every = self.manifest.get("trial", {}).get("network", {}).get("loss_every_packets")
        return [link_count(flow[direction], every) for flow in flows]


def link_count(qdiscs: list[QdiscCounters], loss_every_packets: int | None = None) -> LinkCount:
    """Packets offered to and lost by one link, from the kernel's counters of its qdiscs (any order).

    Copies from duplication count as offered. ``loss_every_packets`` is the network's:
    these losses happen before netem, where clsact counts every arriving packet.
    """
    rows = {row["kind"]: row for row in qdiscs}
    netem = rows["netem"]
    lost = netem["dropped_packets"]
    offered = netem["sent_packets"] + netem["backlog_packets"] + lost
    if loss_every_packets and "clsact" in rows:
        # clsact's count minus netem's would be wrong, because netem may have duplicated packets
        periodic = rows["clsact"]["sent_packets"] // loss_every_packets
        lost, offered = lost + periodic, offered + periodic
    return LinkCount(offered, lost)


@dataclass(frozen=True)
class Results:
    """A results directory."""

    folder: Path

    @property
    def trials_folder(self) -> Path:
        """The folder of all trials."""
        return self.folder / "trials"

    def study(self) -> dict[str, Any]:
        """The content of ``study.json``.

        Raises:
            FileNotFoundError: this is not a results directory.
        """
        path = self.folder / "study.json"
        if not path.exists():
            raise FileNotFoundError(
                f"{self.folder} has no study.json: give a results directory of `cambrian run`"
            )
        data: dict[str, Any] = json.loads(path.read_text())
        return data

    def write_study(self, data: dict[str, Any]) -> None:
        """Write ``study.json`` atomically."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(self.folder / "study.json", data)

    def has(self, trial_id: str) -> bool:
        """Whether this trial has complete results."""
        return (self.trials_folder / trial_id / "verdict.json").exists()

    def trial(self, trial_id: str) -> TrialResult:
        """The results of one trial."""
        return TrialResult(self.trials_folder / trial_id)

    @contextmanager
    def new_trial(self, trial_id: str) -> Iterator[Path]:
        """A temporary folder that becomes the trial's if the body succeeds, and is deleted otherwise.

        It replaces older results of the same identity.
        """
        self.trials_folder.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=self.trials_folder, prefix=f".{trial_id}-"))
        # the guest's programs may run as other users than the reader of the results
        fresh.chmod(0o755)
        try:
            yield fresh
            final = self.trials_folder / trial_id
            if final.exists():
                shutil.rmtree(final)
            fresh.rename(final)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def sweep(self) -> None:
        """Remove incomplete folders of killed runs."""
        for path in self.trials_folder.glob(".*-*"):
            shutil.rmtree(path, ignore_errors=True)

    def database(self) -> duckdb.DuckDBPyConnection:
        """An in-memory DuckDB with views over all trials; each has a column ``trial``.

        Views: ``packets``, ``transport`` and, if a trial loaded a page, ``objects`` and ``page_loads``.
        """
        connection = duckdb.connect()
        pages = [name for name in _OF_PAGES if any(self.trials_folder.glob(f"*/{name}.parquet"))]
        for name in ("packets", "transport", *pages):
            files = str(self.trials_folder / "*" / f"{name}.parquet").replace("'", "''")
            source = f"read_parquet('{files}', filename = true)"
            columns = "parse_path(filename)[-2] AS trial, * EXCLUDE filename"
            # the path is our own, and its quotes are doubled
            connection.execute(f"CREATE VIEW {name} AS SELECT {columns} FROM {source}")  # noqa: S608
        return connection


def write_json(path: Path, data: object) -> None:
    """Write JSON under a temporary name, then rename."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(json.dumps(data, indent=1) + "\n")
    partial.rename(path)
