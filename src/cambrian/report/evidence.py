"""Observations and tables of the parts in a results folder, kept in files.

::

    RESULTS/PART/frames/KEY/observations/observations.parquet
    RESULTS/PART/frames/KEY/observations/SHA256SUMS      frames that differ from it are made again
    RESULTS/PART/frames/KEY/tables/NAME.parquet      all tables of the part's report, made together

``KEY`` is a hash of the trials that ran, with the hashes of their files, of study.json and of the code that
makes the frames. So frames are made again when one of these changes, and ``frames/`` may be removed at any
time. Results that cannot be written to keep none.
"""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from cambrian import source
from cambrian.report import tables
from cambrian.report.collect import Collected, collect
from cambrian.report.observations import observations
from cambrian.store import reading, sums, writing
from cambrian.store.results import Results, TrialResult

OBSERVATIONS = "observations"
#: name of the part whose results directory is the root itself
ITSELF = "."
_TABLES = "tables"
_MADE_BY = ("cambrian.report.collect", "cambrian.report.observations", "cambrian.report.tables")
_KEY_DIGITS = 16
#: results that are read-only; frames that another process has just put there
_NOT_KEPT = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTEMPTY, errno.EEXIST)


class Evidence:
    """A folder of results, as ``cambrian run`` leaves it: ``ROOT/PART/`` is a results directory.

    A part's name is its path below the root: ``wpi/grid``, ``rfc9743/quinn-cubic/depths``. A results
    directory can be the root, too: its only part is :data:`ITSELF`.
    """

    def __init__(self, root: Path) -> None:
        """``root`` may be missing: then nothing has run."""
        self.root = root

    def parts(self) -> list[str]:
        """The parts of suites that were started, sorted; some may have no trial yet."""
        places = (self.root.glob(f"{depth}/study.json") for depth in ("*/*", "*/*/*"))
        return sorted(path.parent.relative_to(self.root).as_posix() for found in places for path in found)

    def frame(self, part: str = ITSELF, table: str = OBSERVATIONS) -> pl.DataFrame | None:
        """A part's observations, or one of its report's tables by its name.

        None if the part has not run, has no trial yet, or has no such table.

        Raises:
            ValueError: no report has a table of that name.
        """
        _check(table)
        return self._made(part, OBSERVATIONS if table == OBSERVATIONS else _TABLES, [table]).get(table)

    def tables(self, part: str = ITSELF) -> dict[str, pl.DataFrame]:
        """Name → frame of every table of the part's report, in the report's order."""
        return self._made(part, _TABLES, list(tables.kinds()))

    def _made(self, part: str, made: str, names: Sequence[str]) -> dict[str, pl.DataFrame]:
        """Those of a part's observations or tables that it has, made if missing; empty without a trial."""
        results = Results(self.root / part)
        key = key_of(results)
        if key is None:
            return {}
        folder = results.folder / "frames" / key / made
        frames = _read(folder, results.folder)
        if frames is None:
            frames = _frames(results, made)
            # not read back: another process may remove them
            _keep(frames, folder)
        return {name: frames[name] for name in names if name in frames}

    def measure(self, part: str = ITSELF) -> None:
        """Make a part's observations and tables if they are missing; each trial is measured once for both."""
        results = Results(self.root / part)
        key = key_of(results)
        if key is None:
            return
        made = (results.folder / "frames" / key / name for name in (OBSERVATIONS, _TABLES))
        if any(next(sums.damage(folder, results.folder), None) for folder in made):
            self.collected(part)

    def kept(self, part: str = ITSELF) -> dict[str, pl.DataFrame]:
        """The observations and tables that the last report left, by name; nothing is measured.

        Empty if none are kept. They may lack the trials of a run in progress.
        """
        results = Results(self.root / part)
        for folder in (results.folder / "frames").glob("*"):
            observed, made = (_read(folder / name, results.folder) for name in (OBSERVATIONS, _TABLES))
            if observed is not None and made is not None:
                return observed | made
        return {}

    def collected(self, part: str = ITSELF) -> tuple[Collected, dict[str, pl.DataFrame]]:
        """The input of a part's report and its tables, measured now; the frames are kept for :meth:`frame`.

        Raises:
            FileNotFoundError: the part has not run, or has no trial yet.
        """
        results = Results(self.root / part)
        key = key_of(results)
        if key is None:
            raise FileNotFoundError(f"{results.folder} holds no finished trial yet; remedy: cambrian run")
        measured = replace(collect(results), made_from=key)
        tables_made = tables.all_tables(measured)
        for name, frames in ((OBSERVATIONS, {OBSERVATIONS: observations(measured)}), (_TABLES, tables_made)):
            _keep(frames, results.folder / "frames" / key / name)
        return measured, tables_made


def _check(table: str) -> None:
    names = [OBSERVATIONS, *tables.kinds()]
    if table not in names:
        raise ValueError(f"no table {table}: choose one of {', '.join(names)}")


def key_of(results: Results) -> str | None:
    """``KEY`` of the frames as they would be made now; None without a trial.

    Raises:
        Damaged: study.json, or a trial's verdict or list of hashes, cannot be used.
    """
    if not os.path.lexists(results.folder / "study.json"):
        return None
    asked = {name for group in results.study()["groups"] for name in group["trials"]}
    present = sorted(name for name in asked if results.has(name))
    if not present:
        return None
    study = (results.folder / "study.json").read_bytes()
    made_by = source.fingerprint(*_MADE_BY).encode()
    return _digest([study, made_by, *(part for name in present for part in _result(results.trial(name)))])


def _result(trial: TrialResult) -> Iterator[bytes]:
    """What a trial is and has: one that ran again under its identity can have another verdict."""
    yield trial.id.encode()
    yield reading.content(trial.folder / "verdict.json", trial.store)
    if sums.is_there(trial.folder):
        yield reading.content(trial.folder / sums.NAME, trial.store)


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:_KEY_DIGITS]


def _frames(results: Results, made: str) -> dict[str, pl.DataFrame]:
    if made == OBSERVATIONS:
        return {OBSERVATIONS: observations(collect(results, judged=False))}
    return tables.all_tables(collect(results))


def _read(folder: Path, store: Path) -> dict[str, pl.DataFrame] | None:
    """The frames in a folder by name; None if they are missing or damaged, or are removed meanwhile."""
    paths = sorted(folder.glob("*.parquet"))
    if next(sums.damage(folder, store), None):
        return None
    try:
        # bytes: polars takes no path that is not UTF-8
        return {path.stem: pl.read_parquet(path.read_bytes()) for path in paths}
    except FileNotFoundError:
        return None


def _keep(frames: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write all frames, if the results can be written to and no other process writes others meanwhile."""
    try:
        _write(frames, folder)
    except FileNotFoundError:
        # while trials are added, another process has frames of another key: it removes these
        pass
    except OSError as error:
        if error.errno not in _NOT_KEPT:
            # an error of write() does not say which file it is about
            error.filename = error.filename or str(folder)
            raise


def _write(frames: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write all frames atomically, under a temporary name first; frames of other keys are removed.

    Those of the last report stay until another report is whole: during a run, :meth:`Evidence.kept` has them.
    """
    for place in (folder.parents[1], folder.parent):
        if not place.is_dir():
            # something else is in the way
            writing.remove(place)
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        fresh.chmod(0o755)
        for name, frame in frames.items():
            writing.write_parquet(fresh / f"{name}.parquet", frame)
        sums.write(fresh)
        lists = (one / sums.NAME for one in (folder, fresh))
        # another process may be reading whole ones: the same ones stay
        if next(sums.damage(folder, folder.parents[2]), None) or len({one.read_bytes() for one in lists}) > 1:
            writing.put(fresh, folder)
    finally:
        writing.remove(fresh)
    whole = _is_whole(folder.parent)
    for other in folder.parents[1].iterdir():
        if other != folder.parent and (whole or not _is_whole(other)):
            writing.remove(other)


def _is_whole(place: Path) -> bool:
    """Does the folder of a key have observations and tables?"""
    return all((place / name).is_dir() for name in (OBSERVATIONS, _TABLES))
