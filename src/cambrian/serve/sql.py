"""Queries over one results directory: DuckDB in memory, which opens no file.

A query is text that reached a port, so it meets several walls. It must be one statement, and its transaction
is read-only. DuckDB 2 takes `WITH x AS (COPY …) SELECT` for a SELECT, so it has no file system at all: Arrow
reads the trials' files for it. It changes no setting. Time and memory are limited, here and by the process
that carries queries out (:mod:`cambrian.serve.querying`).
"""

from __future__ import annotations

import csv
import io
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.fs

from cambrian.data import load
from cambrian.report.evidence import OBSERVATIONS, Evidence
from cambrian.store.results import COLUMNS, PAGE_COLUMNS, Results

#: most rows that a page shows; the CSV has all
MOST_ROWS = 1000
#: wall clock that a query may take, in seconds
TIME_LIMIT_S = 20.0
MEMORY_LIMIT = "1GiB"
#: a run may be using the other cores
_THREADS = 2
_BATCH_ROWS = 20_000
_NO_TRIAL = "No trial has finished yet: there is nothing to query."
_NO_TABLES = (
    "There are no tables of a report here, so observations and tables.NAME are missing. Make the report with "
    "cambrian report, then ask again."
)
#: DuckDB's error, with the table's name
_NO_SUCH_TABLE = re.compile(r"^Catalog Error: Table with name (\S+) does not exist")
_ONLY_ONE = "Give one statement; this text has {count}."
_EMPTY = "Write a query, or choose an example."
_ONLY_READS = "Only queries run here: SELECT, FROM, WITH, VALUES, DESCRIBE, SHOW, SUMMARIZE."
STOPPED = f"The query was stopped after {TIME_LIMIT_S:.0f} s: ask for fewer trials or columns."


class Refused(Exception):
    """A query that gives no rows; the text is for its author."""


@dataclass(frozen=True)
class Example:
    """A query that a reader can start from."""

    title: str
    query: str


#: a seed is one value, so trials of a seed are averaged first (docs/explanation/statistics.md); by group and
#: flow, as in the report's table of flows: no table has a contestant's mean over all its rivals
EXAMPLES = (
    Example(
        "Mean throughput of each flow of a group",
        """SELECT "group", flow, contestant, avg(seed_mbps) AS throughput_mbps, count(*) AS seeds
FROM (
  SELECT "group", flow, contestant, seed, avg(throughput_mbps) AS seed_mbps
  FROM observations GROUP BY ALL
)
GROUP BY ALL ORDER BY "group", flow""",
    ),
    Example(
        "Queue loss of each flow of a group",
        """SELECT "group", flow, contestant, avg(seed_loss) AS queue_loss_percent, count(*) AS seeds
FROM (
  SELECT "group", flow, contestant, seed, avg(queue_loss_percent) AS seed_loss
  FROM observations GROUP BY ALL
)
GROUP BY ALL ORDER BY queue_loss_percent DESC""",
    ),
    Example(
        "The slowest flows",
        """SELECT trial, network, contestant, against, seed, throughput_mbps, delay_p95_ms
FROM observations ORDER BY throughput_mbps LIMIT 20""",
    ),
    Example(
        "Packets at the bottleneck, by their fate",
        """SELECT network, contestant, outcome, count(*) AS packets, sum(size_bytes) AS bytes
FROM packets JOIN trials USING (trial, flow)
WHERE valid GROUP BY ALL ORDER BY ALL""",
    ),
    Example(
        "The largest congestion windows",
        """SELECT network, contestant, seed, max(cwnd_bytes) AS cwnd_bytes, count(*) AS events
FROM transport JOIN trials USING (trial, flow)
WHERE valid GROUP BY ALL ORDER BY cwnd_bytes DESC""",
    ),
    Example("Invalid trials", "SELECT DISTINCT trial, network, contestant, seed FROM trials WHERE NOT valid"),
    Example(
        "All tables and views", "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
    ),
)


@dataclass(frozen=True)
class Answer:
    """The first rows of a result, as text; None is SQL's NULL. ``count`` is the number of all rows."""

    columns: list[str]
    types: list[str]
    numeric: list[bool]
    rows: list[list[str | None]]
    count: int
    took_s: float


class Database:
    """The views and tables of one results directory.

    ``packets``, ``transport`` and, if a trial loaded a page, ``objects`` and ``page_loads`` are the trials'
    files, with a column ``trial``. The tables are ``trials`` and ``observations``
    (:class:`cambrian.data.Data`), and the report's own as ``tables.NAME``. ``trials`` and the files are of
    the trials that were finished when this was made; the others are as of the last report.
    """

    def __init__(self, folder: Path) -> None:
        """``folder`` is a real path.

        Raises:
            Refused: no trial has finished.
            Damaged: a file of the results cannot be used.
        """
        self._base = duckdb.connect()
        frames = Evidence(folder).kept()
        self._has_tables = bool(frames)
        trials = load(folder).trials
        if trials.is_empty():
            raise Refused(_NO_TRIAL)
        self._add("trials", trials)
        names = trials["trial"].unique(maintain_order=True).to_list()
        found = {name: _dataset(folder, name, names) for name in (*COLUMNS, *PAGE_COLUMNS)}
        self._datasets = {name: one for name, one in found.items() if one is not None}
        self._base.execute("CREATE SCHEMA tables")
        for name, frame in frames.items():
            # a table without rows may lack columns
            if frame.width:
                self._add(OBSERVATIONS if name == OBSERVATIONS else f"tables.{name}", frame)
        for setting in (
            f"memory_limit = '{MEMORY_LIMIT}'",
            f"threads = {_THREADS}",
            # nothing is written to a disk when the memory ends
            "temp_directory = ''",
            # names of Python variables are no tables
            "python_enable_replacements = false",
            "enable_external_access = false",
            "disabled_filesystems = 'LocalFileSystem'",
            "lock_configuration = true",
        ):
            self._base.execute(f"SET {setting}")

    def _add(self, name: str, frame: pl.DataFrame) -> None:
        self._base.register("given", frame.to_arrow())
        # a name of our own
        self._base.execute(f"CREATE TABLE {name} AS SELECT * FROM given")  # noqa: S608
        self._base.unregister("given")

    def answer(self, query: str) -> Answer:
        """Run a query.

        Raises:
            Refused: it is no single query, is wrong, or takes more than :data:`TIME_LIMIT_S`.
        """
        began = time.monotonic()
        rows: list[list[str | None]] = []
        count = 0
        with self._running(query) as reader:
            types = [field.type for field in reader.schema]
            for batch in reader:
                count += batch.num_rows
                wanted = batch.slice(0, max(0, MOST_ROWS - len(rows)))
                rows += [[_short(cell) for cell in row] for row in _rows(wanted)]
            return Answer(
                columns=reader.schema.names,
                types=[str(one) for one in types],
                numeric=[_is_number(one) for one in types],
                rows=rows,
                count=count,
                took_s=time.monotonic() - began,
            )

    def as_csv(self, query: str) -> bytes:
        """All rows of a query as CSV, with every digit.

        Raises:
            Refused: as :meth:`answer`.
        """
        with self._running(query) as reader:
            text = io.StringIO()
            writer = csv.writer(text)
            writer.writerow(reader.schema.names)
            for batch in reader:
                writer.writerows(_rows(batch))
            return text.getvalue().encode()

    @contextmanager
    def _running(self, query: str) -> Iterator[pa.RecordBatchReader]:
        """The rows of a query. The block reads them, within the limits."""
        cursor = self._base.cursor()
        stop = threading.Timer(TIME_LIMIT_S, cursor.interrupt)
        stop.daemon = True
        try:
            _check(query)
            for name, one in self._datasets.items():
                # a cursor has no names of another one's
                cursor.register(name, one)
            # a statement inside a SELECT could change the tables
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            stop.start()
            yield cursor.sql(query).to_arrow_reader(_BATCH_ROWS)
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            # arrow hands on DuckDB's interrupt as an OSError
            if isinstance(error, duckdb.InterruptException) or "INTERRUPT Error" in str(error):
                raise Refused(STOPPED) from None
            missing = _NO_SUCH_TABLE.search(str(error))
            if missing and missing[1] not in PAGE_COLUMNS and not self._has_tables:
                raise Refused(f"{_NO_TABLES}\n{error}") from error
            raise Refused(str(error)) from error
        finally:
            stop.cancel()
            cursor.close()


def _check(query: str) -> None:
    """Is it one query? What it may do is limited by its transaction and by DuckDB's settings."""
    statements = duckdb.extract_statements(query)
    if not statements:
        raise Refused(_EMPTY)
    if len(statements) > 1:
        raise Refused(_ONLY_ONE.format(count=len(statements)))
    if statements[0].type is not duckdb.StatementType.SELECT:
        raise Refused(_ONLY_READS)


def _dataset(folder: Path, name: str, trials: Sequence[str]) -> pyarrow.dataset.Dataset | None:
    """The files ``name`` of the trials that have one; None if no trial has."""
    place = Results(folder).trials_folder
    files = {trial: file for trial in trials if (file := place / trial / f"{name}.parquet").exists()}
    if not files:
        return None
    paths, disk, kind = (
        list(map(str, files.values())),
        pyarrow.fs.LocalFileSystem(),
        pyarrow.dataset.ParquetFileFormat(),
    )
    trial = pyarrow.dataset.field("trial")
    return pyarrow.dataset.FileSystemDataset.from_paths(
        paths,
        # the columns of all were checked
        schema=pa.schema([("trial", pa.string()), *kind.inspect(paths[0], disk)]),
        format=kind,
        filesystem=disk,
        partitions=[trial == one for one in files],
    )


def _rows(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    # columns may have the same name, so no mapping
    return zip(*map(_values, batch.columns), strict=True)


def _values(column: pa.Array) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError):
        # Python's times have no nanoseconds
        values = column.cast(pa.string()).to_pylist()
    return values


def _short(cell: Any) -> str | None:
    """A cell as a page shows it: six digits of a broken number."""
    if cell is None:
        return None
    if isinstance(cell, float):
        return f"{cell:.6g}" if abs(cell) < 1e6 else f"{cell:.1f}"
    return str(cell)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
