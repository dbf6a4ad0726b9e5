"""Reads and writes results directories."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import polars as pl
from filelock import FileLock, Timeout

from cambrian.metrics.columns import PACKETS
from cambrian.store import reading, sums, writing
from cambrian.store.reading import Damaged
from cambrian.store.shapes import OF_A_VALID_TRIAL, Manifest, StudyRecord, Verdict
from cambrian.store.writing import write_json
from cambrian.testbed.contract import QdiscCounters
from cambrian.trace.objects import OBJECTS, PAGE_LOADS
from cambrian.trace.schema import TRANSPORT

if TYPE_CHECKING:
    import duckdb

__all__ = ["InUse", "LinkCount", "Results", "TrialResult", "link_count", "write_json"]

#: the parquet files of every trial, and those of trials with page loads: name → columns
COLUMNS: Mapping[str, Mapping[str, Any]] = {"packets": PACKETS, "transport": TRANSPORT}
PAGE_COLUMNS: Mapping[str, Mapping[str, Any]] = {"objects": OBJECTS, "page_loads": PAGE_LOADS}

#: the file that a run locks
LOCK = ".lock"
#: says beside trials that they are of no study
NO_STUDY = "no-study.txt"


class InUse(Exception):
    """Another process writes to this results directory."""


class LinkCount(NamedTuple):
    """Packets offered to a link, and packets that it lost at random (or every n-th)."""

    offered: int
    lost: int


@dataclass(frozen=True)
class TrialResult:
    """One trial's folder; files are read on first use.

    Each of them raises :class:`cambrian.store.reading.Damaged` if its file cannot be used.
    """

    folder: Path

    @property
    def id(self) -> str:
        """The trial's identity."""
        return self.folder.name

    @property
    def store(self) -> Path:
        """The results directory that the trial is in."""
        return self.folder.parent.parent

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The trial, its software, and the guest's counters."""
        return reading.json_file(self.folder / "manifest.json", Manifest, self.store, complete=False)

    @cached_property
    def verdict(self) -> dict[str, Any]:
        """``valid``, ``reasons``, ``notes``, ``flows`` (how each one ended) and ``gates``."""
        return reading.json_file(self.folder / "verdict.json", Verdict, self.store, complete=False)

    def flow_end(self, number: int) -> dict[str, Any]:
        """How a flow ended: ``outcome`` and ``ended_s`` of the verdict; empty if the verdict has none."""
        ends = self.verdict.get("flows", [])
        return next((end for end in ends if end["flow"] == number), {})

    @cached_property
    def packets(self) -> pl.DataFrame:
        """Each packet at the bottleneck (see docs/reference/metrics.md for the columns)."""
        return self._frame("packets")

    @cached_property
    def transport(self) -> pl.DataFrame:
        """Each controller event of the flows that export them."""
        return self._frame("transport")

    @cached_property
    def objects(self) -> pl.DataFrame:
        """Each object of the pages that the trial loaded (:data:`cambrian.trace.objects.OBJECTS`)."""
        return self._frame("objects")

    @cached_property
    def page_loads(self) -> pl.DataFrame:
        """Each page load of the trial (:data:`cambrian.trace.objects.PAGE_LOADS`)."""
        return self._frame("page_loads")

    def check(self) -> None:
        """Check the JSON files and the ends of the parquet files; takes about a millisecond.

        Damage in the middle of a parquet file is not found: see :func:`cambrian.store.check.thorough`. An
        invalid trial may lack the frames of its page loads: a guest that was cut off leaves none.

        Raises:
            Damaged: a file cannot be used.
        """
        place = self.folder / "manifest.json"
        manifest = reading.json_file(place, Manifest, self.store)
        if manifest["id"] != self.id:
            raise Damaged(place, f"is of the trial {manifest['id']}, not of {self.id}", self.store)
        verdict = reading.json_file(self.folder / "verdict.json", Verdict, self.store)
        if verdict["valid"] and OF_A_VALID_TRIAL - set(manifest["guest"] or ()):
            raise Damaged(place, "lacks the guest's report", self.store)
        for name, columns in self.parquet_files.items():
            file = self.folder / f"{name}.parquet"
            if verdict["valid"] or name not in PAGE_COLUMNS or os.path.lexists(file):
                reading.check_columns(file, columns, self.store)

    @property
    def parquet_files(self) -> dict[str, Mapping[str, Any]]:
        """The parquet files that this trial must have, without suffix → their columns."""
        pages = any(flow.get("page") for flow in self.manifest["trial"]["flows"])
        return {**COLUMNS, **(PAGE_COLUMNS if pages else {})}

    def _frame(self, name: str) -> pl.DataFrame:
        columns = {**COLUMNS, **PAGE_COLUMNS}[name]
        return reading.frame(self.folder / f"{name}.parquet", columns, self.store)

    def log(self, name: str) -> Path:
        """The path of a program's output, such as ``flow0.receiver.out``; it may be missing.

        Raises:
            Damaged: it is a folder or a named pipe.
        """
        path = self.folder / "logs" / name
        if path.exists() and not path.is_file():
            raise Damaged(path, f"is {reading.kind_of(path.stat().st_mode)}, not a file", self.store)
        return path

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
            Damaged: the file cannot be used.
        """
        path = self.folder / "study.json"
        if not os.path.lexists(path):
            raise FileNotFoundError(
                f"{self.folder} has no study.json: give a results directory of `cambrian run`"
            )
        return reading.json_file(path, StudyRecord, self.folder)

    def write_study(self, data: dict[str, Any]) -> None:
        """Write ``study.json`` atomically."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(self.folder / "study.json", data)
        (self.folder / NO_STUDY).unlink(missing_ok=True)

    def has(self, trial_id: str) -> bool:
        """Whether this trial has complete results."""
        return (self.trials_folder / trial_id / "verdict.json").exists()

    def unlisted(self) -> int:
        """The number of trials here with complete results that ``study.json`` does not list."""
        listed = {name for group in self.study()["groups"] for name in group["trials"]}
        folders = self.trials_folder.iterdir() if self.trials_folder.is_dir() else ()
        return sum(path.name not in listed and self.has(path.name) for path in folders)

    def trial(self, trial_id: str) -> TrialResult:
        """The results of one trial."""
        return TrialResult(self.trials_folder / trial_id)

    def checked(self, trial_id: str) -> TrialResult:
        """The results of one trial, after :meth:`TrialResult.check`.

        Raises:
            Damaged: a file cannot be used.
        """
        trial = self.trial(trial_id)
        trial.check()
        return trial

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
            sums.write(fresh)
            writing.sync_tree(fresh)
            writing.put(fresh, self.trials_folder / trial_id)
        finally:
            writing.remove(fresh)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Only one process at a time is inside this block for the same directory.

        The kernel releases the lock when the process dies.

        Raises:
            InUse: another process is inside.
            OSError: the directory cannot be made or written to.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.folder / LOCK, timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise InUse(
                f"another run is using {self.folder}; wait until it has ended, or use another folder (--out)"
            ) from None
        try:
            yield
        finally:
            lock.release()

    def temporary(self) -> list[Path]:
        """Temporary files and folders of runs, dead or alive."""
        return sorted([*self.trials_folder.glob(".*-*"), *self.folder.glob(".study.json.*")])

    def sweep(self) -> None:
        """Remove the temporary files of killed runs; only inside :meth:`alone`."""
        for path in self.temporary():
            writing.remove(path)

    def database(self) -> duckdb.DuckDBPyConnection:
        """An in-memory DuckDB with views over all trials; each has a column ``trial``.

        Views: ``packets``, ``transport`` and, if a trial loaded a page, ``objects`` and ``page_loads``.
        """
        # late: most commands need no database
        import duckdb

        connection = duckdb.connect()
        pages = [name for name in PAGE_COLUMNS if any(self.trials_folder.glob(f"[!.]*/{name}.parquet"))]
        for name in ("packets", "transport", *pages):
            # a name with a point in front is a trial that a run writes at this moment
            files = f"{glob.escape(str(self.trials_folder))}/[!.]*/{name}.parquet".replace("'", "''")
            source = f"read_parquet('{files}', filename = true)"
            columns = "parse_path(filename)[-2] AS trial, * EXCLUDE filename"
            # the path is our own, and its quotes are doubled
            connection.execute(f"CREATE VIEW {name} AS SELECT {columns} FROM {source}")  # noqa: S608
        return connection
