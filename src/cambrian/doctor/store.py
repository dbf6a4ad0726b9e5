"""Checks a results directory, and mends it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from cambrian import parallel
from cambrian.store import check, reading, sums, writing
from cambrian.store.check import DAMAGED
from cambrian.store.reading import Damaged
from cambrian.store.results import LOCK, NO_STUDY, InUse, Results, TrialResult
from cambrian.store.shapes import IDENTITY, SuiteRecord
from cambrian.suites.model import RECORD

#: begin the names of what `cambrian history` and `cambrian hunt` write
_WRITTEN = ("history", "hunted-")
#: what belongs in a results directory, beside study.json
_KNOWN = {"study.json", RECORD, "trials", "frames", "report", DAMAGED, LOCK, NO_STUDY}

#: move: to ``damaged/``; remove: it can be made again; run: only a run can make it;
#: read: nobody knows whether it is damaged, as it cannot be read; none: it is mentioned, and harms nothing
Cure = Literal["move", "remove", "run", "read", "none"]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: where, what, and what mending does.

    ``target`` is what mending moves or removes, such as the whole trial of a damaged file.
    """

    path: Path
    what: str
    cure: Cure
    target: Path
    mended: bool = False

    @property
    def is_problem(self) -> bool:
        """Whether the results are not whole because of this."""
        return self.cure != "none" and not self.mended


@dataclass(frozen=True)
class StoreReport:
    """All findings of one results directory, and the command that made it, if it is known."""

    folder: Path
    trials: int
    findings: tuple[Finding, ...]
    command: str | None

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return not any(finding.is_problem for finding in self.findings)


def examine(folder: Path, *, mend: bool) -> list[StoreReport]:
    """Check each results directory in ``folder``, which may be one itself; mend it if asked.

    Raises:
        FileNotFoundError: there is none.
        InUse: mending, while a run uses a results directory.
        OSError: mending could not move or remove something.
    """
    stores = list(check.stores(folder))
    suites = [path for path in (folder / RECORD, *folder.glob(f"*/{RECORD}")) if os.path.lexists(path)]
    found = [_store(results, mend=mend) for results in stores]
    found += [_suite(path, mend=mend) for path in suites]
    if not found:
        raise FileNotFoundError(
            f"{folder} has no study.json: give a results directory of `cambrian run`, or a folder of them"
        )
    return found


def _store(results: Results, *, mend: bool) -> StoreReport:
    with ExitStack() as held:
        try:
            # a run has made the lock's file; a check must not make one
            if mend or os.access(results.folder / LOCK, os.W_OK):
                held.enter_context(results.alone())
            running = False
        except InUse:
            if mend:
                raise
            # without changes, only the temporary files of the run need care
            running = True
        study, findings = _study(results)
        places = _entries(results.trials_folder)
        trials = [place for place in places if re.match(IDENTITY, place.name) and place.is_dir()]
        checked = parallel.mapped(_trial, trials, what="trials checked")
        findings += [finding for found in checked for finding in found]
        findings += _strangers(results, trials)
        findings += _leftovers(results, running=running)
        findings += _frames(results)
        asked = _asked(study)
        findings += _compared(results, asked, trials, findings)
        if mend:
            findings = _mended(results.folder, findings, asked)
        return StoreReport(results.folder, len(trials), tuple(findings), study["command"] if study else None)


def _suite(path: Path, *, mend: bool) -> StoreReport:
    findings = []
    try:
        reading.json_file(path, SuiteRecord, path.parent)
    except Damaged as error:
        findings = [_of(error, "move", path)]
    if mend:
        findings = _mended(path.parent, findings, [])
    return StoreReport(path.parent, 0, tuple(findings), None)


def _study(results: Results) -> tuple[dict[str, Any] | None, list[Finding]]:
    place = results.folder / "study.json"
    if check.is_of_no_study(results):
        return None, []
    if not os.path.lexists(place):
        return None, [Finding(place, "is missing", "run", place)]
    try:
        return results.study(), []
    except Damaged as error:
        return None, [_of(error, "move", place)]


def _trial(folder: Path) -> list[Finding]:
    """A trial's damaged files; mending moves the whole trial, except if something in it cannot be read."""
    if not os.access(folder, os.R_OK | os.X_OK):
        return [Finding(folder, "cannot be read: Permission denied", "read", folder)]
    if not os.path.lexists(folder / "verdict.json"):
        return [Finding(folder, "has no verdict.json, so it is not complete", "move", folder)]
    found = check.thorough(TrialResult(folder))
    findings = [_of(error, "move", folder) for error in found]
    unread = any(finding.cure == "read" for finding in findings)
    return [replace(finding, cure="read") if unread else finding for finding in findings]


def _of(error: Damaged, cure: Cure, target: Path) -> Finding:
    """The finding of an error, and its cure if the file can be read."""
    return Finding(error.path, error.why, "read" if isinstance(error, reading.Unread) else cure, target)


def _strangers(results: Results, trials: list[Path]) -> Iterator[Finding]:
    """What is neither a trial nor anything else of Cambrian."""
    known = {*trials, *results.temporary()}
    for place in _entries(results.trials_folder):
        if place not in known:
            yield Finding(place, f"is {_kind(place)}, not a trial", "move", place)
    if os.path.lexists(results.trials_folder) and not results.trials_folder.is_dir():
        place = results.trials_folder
        yield Finding(place, f"is {_kind(place)}, not a folder", "move", place)
    for place in _entries(results.folder):
        if place.name not in _KNOWN and not place.name.startswith(_WRITTEN) and place not in known:
            yield Finding(place, "is not Cambrian's", "none", place)


def _leftovers(results: Results, *, running: bool) -> Iterator[Finding]:
    for place in results.temporary():
        if running:
            yield Finding(place, "is temporary; a run is using this folder", "none", place)
        else:
            yield Finding(place, "was left by a run that died", "remove", place)


def _frames(results: Results) -> Iterator[Finding]:
    """Damaged frames; reading commands make them again."""
    frames = results.folder / "frames"
    if os.path.lexists(frames) and not frames.is_dir():
        yield Finding(frames, f"is {_kind(frames)}, not a folder", "remove", frames)
        return
    for key in _entries(frames):
        for made in _entries(key) if key.is_dir() else [key]:
            if made.is_dir() and not sums.is_there(made):
                # of an older version, or of a report that died or is running: nobody reads it
                continue
            for error in sums.damage(made, results.folder):
                yield _of(error, "remove", made)


def _asked(study: dict[str, Any] | None) -> list[str]:
    """The identities of the study's trials; empty if study.json cannot be read."""
    return list(
        dict.fromkeys(name for group in (study or {"groups": []})["groups"] for name in group["trials"])
    )


def _compared(
    results: Results, asked: list[str], trials: list[Path], findings: list[Finding]
) -> Iterator[Finding]:
    """Trials that the study has and the folder lacks, and the reverse."""
    if not asked:
        return
    there = {place.name for place in trials}
    for name in asked:
        if name not in there:
            place = results.trials_folder / name
            yield Finding(place, "is missing", "run", place)
    damaged = {finding.target.name for finding in findings}
    for name in sorted(there - set(asked) - damaged):
        place = results.trials_folder / name
        yield Finding(place, "is whole, and not of this study.json", "none", place)


def _mended(folder: Path, findings: list[Finding], asked: list[str]) -> list[Finding]:
    """The findings after mending. A moved trial is missing then, so its run is still to come."""
    done: dict[Path, bool] = {}
    for finding in findings:
        if finding.target in done or finding.cure in ("run", "read", "none"):
            continue
        if finding.cure == "move":
            _move(finding.target, folder)
        else:
            writing.remove(finding.target)
        done[finding.target] = True
    after = [Finding(one.path, one.what, one.cure, one.target, mended=one.target in done) for one in findings]
    again = (place for place in done if place.name in (*asked, "study.json", RECORD))
    return [*after, *(Finding(place, "is missing", "run", place) for place in again)]


def _move(place: Path, folder: Path) -> None:
    """Move to ``damaged/``, under a name that is free."""
    to = folder / DAMAGED / place.relative_to(folder)
    to.parent.mkdir(parents=True, exist_ok=True)
    free, number = to, 1
    while os.path.lexists(free):
        number += 1
        free = to.with_name(f"{to.name}-{number}")
    place.rename(free)


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _kind(place: Path) -> str:
    mode = place.lstat().st_mode
    return reading.kind_of(stat.S_IFMT(mode))
