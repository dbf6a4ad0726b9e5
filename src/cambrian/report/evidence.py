"""What a folder of results has to say: each part's observations and tables, kept once they are made.

::

    RESULTS/PART/frames/KEY/observations/observations.parquet
    RESULTS/PART/frames/KEY/tables/NAME.parquet      each table of the part's report, once one is asked for

``KEY`` is of the trials that are there, of what was asked, and of the code that makes the frames. So
a frame never outlives its trials, and ``frames/`` may be removed at any time.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from cambrian import source
from cambrian.report import tables
from cambrian.report.collect import Collected, collect
from cambrian.report.observations import observations
from cambrian.store.results import Results

OBSERVATIONS = "observations"
_TABLES = "tables"
_MADE_BY = ("cambrian.report.collect", "cambrian.report.observations", "cambrian.report.tables")
_KEY_DIGITS = 16


class Evidence:
    """A folder of results, as ``cambrian run`` leaves it: ``ROOT/PART/`` is a results directory.

    A part's name is its path below the root: ``wpi/grid``, ``rfc9743/quinn-cubic/depths``.
    """

    def __init__(self, root: Path) -> None:
        """``root`` need not exist: nothing has been run, then."""
        self.root = root

    def parts(self) -> list[str]:
        """The parts of suites that were run, sorted; with or without trials so far."""
        places = (self.root.glob(f"{depth}/study.json") for depth in ("*/*", "*/*/*"))
        return sorted(path.parent.relative_to(self.root).as_posix() for found in places for path in found)

    def frame(self, part: str, table: str = OBSERVATIONS) -> pl.DataFrame | None:
        """A part's observations, or one of its report's tables by its name.

        None where the part has not been run, no trial of it is there, or it has no such table.

        Raises:
            ValueError: there is no table of that name in any report.
        """
        _check(table)
        folder = self._made(part, OBSERVATIONS if table == OBSERVATIONS else _TABLES)
        return _read(folder, table) if folder else None

    def tables(self, part: str) -> dict[str, pl.DataFrame]:
        """Every table that the part's report has, by its name, in the report's order."""
        folder = self._made(part, _TABLES)
        names = [tables.name_of(kind) for kind in tables.kinds()]
        found = {name: _read(folder, name) for name in names} if folder else {}
        return {name: frame for name, frame in found.items() if frame is not None}

    def _made(self, part: str, made: str) -> Path | None:
        """The folder of a part's observations or tables, made where it is not there; None without a trial."""
        results = Results(self.root / part)
        key = _key(results)
        if key is None:
            return None
        folder = results.folder / "frames" / key / made
        if not folder.exists():
            _keep(_frames(results, made), folder)
        return folder

    def collected(self, part: str) -> tuple[Collected, dict[str, pl.DataFrame]]:
        """All that a part's report is made of, measured now; its frames are kept for :meth:`frame`.

        Raises:
            FileNotFoundError: the part has not been run, or no trial of it is there.
        """
        results = Results(self.root / part)
        key = _key(results)
        if key is None:
            raise FileNotFoundError(f"{results.folder} holds no finished trial yet; remedy: cambrian run")
        found = collect(results)
        made = tables.all_tables(found)
        for name, frames in ((OBSERVATIONS, {OBSERVATIONS: observations(found)}), (_TABLES, made)):
            _keep(frames, results.folder / "frames" / key / name)
        return found, made


def _read(folder: Path, table: str) -> pl.DataFrame | None:
    path = folder / f"{table}.parquet"
    return pl.read_parquet(path) if path.exists() else None


def _check(table: str) -> None:
    names = [OBSERVATIONS, *(tables.name_of(kind) for kind in tables.kinds())]
    if table not in names:
        raise ValueError(f"no table {table}: give one of {', '.join(names)}")


def _key(results: Results) -> str | None:
    """The name of the frames as they would be made now; None without any trial."""
    if not (results.folder / "study.json").exists():
        return None
    asked = {name for group in results.study()["groups"] for name in group["trials"]}
    there = sorted(name for name in asked if results.has(name))
    if not there:
        return None
    asked_as = (results.folder / "study.json").read_bytes()
    return _digest([asked_as, source.fingerprint(*_MADE_BY).encode(), *(name.encode() for name in there)])


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:_KEY_DIGITS]


def _frames(results: Results, made: str) -> dict[str, pl.DataFrame]:
    if made == OBSERVATIONS:
        return {OBSERVATIONS: observations(collect(results, judged=False))}
    return tables.all_tables(collect(results))


def _keep(frames: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """All of them or none, under a temporary name first; those of other keys go."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        fresh.chmod(0o755)
        for name, frame in frames.items():
            frame.write_parquet(fresh / f"{name}.parquet")
        if not folder.exists():
            fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    for other in folder.parents[1].iterdir():
        if other != folder.parent:
            shutil.rmtree(other, ignore_errors=True)
