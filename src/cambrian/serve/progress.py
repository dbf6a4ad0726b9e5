"""How far a run is, and what its report lacks; read from the results directory, which is left as it is."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cambrian.report import study_page
from cambrian.report.evidence import key_of
from cambrian.serve.places import Comparison, Place
from cambrian.store.reading import Damaged
from cambrian.store.results import LOCK, Results

#: the finished trials whose pace gives the ETA: enough for an average, few enough to follow a change
_RECENT = 30
#: with fewer there is no ETA
_FEWEST = 3
_LOCKS = Path("/proc/locks")
#: beside a comparison's page: the files that the page was made from
MADE_FROM = "made-from.json"
_VERDICT = "verdict.json"


@dataclass(frozen=True)
class State:
    """A results directory at one moment. Times are in seconds; None: it cannot be said."""

    #: trials that the study asks for, and those of them that have results
    asked: int
    finished: int
    #: finished trials that the gates reject
    invalid: int
    #: finished trials that the report lacks
    new: int
    #: since the last trial finished
    since_last_s: float | None
    #: another process holds the folder's lock
    running: bool
    #: until the run ends, at the pace of its last trials
    eta_s: float | None
    #: the report is missing, or is of other trials, another study.json or other code
    stale: bool

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


class Progress:
    """Reads the state of a place again and again. Each verdict is read once."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._results = Results(place.folder)
        self._parts = [Progress(part) for part in place.parts]
        #: trial → when it finished, in seconds since the epoch, and whether it is valid
        self._known: dict[str, tuple[float, bool]] = {}
        #: all that decides it → whether the report is of other things than there are now
        self._differs: tuple[object, bool] = (None, False)

    def state(self) -> State:
        """The state now.

        Raises:
            Damaged: study.json cannot be used.
        """
        if isinstance(self._place, Comparison):
            return self._of_comparison()
        return self._of_suite() if self._parts else self._of_study()

    def _of_comparison(self) -> State:
        """The sum over both studies; what is new is what the comparison's page lacks."""
        both = self._of_suite()
        if _when(self._place.page) is None:
            return replace(both, new=0, stale=True)
        now = inputs(self._place)
        try:
            made = dict(json.loads((self._place.folder / MADE_FROM).read_text()))
        except (OSError, ValueError, TypeError):
            # nobody knows what an earlier version's page has
            return replace(both, new=0, stale=True)
        new = sum(name.endswith(_VERDICT) and made.get(name) != when for name, when in now.items())
        return replace(both, new=new, stale=now != made)

    def _of_suite(self) -> State:
        """The sum over the parts that were started. The other parts are unknown, so there is no ETA."""
        states = [part.state() for part in self._parts]
        since = [one.since_last_s for one in states if one.since_last_s is not None]
        begun = [part for part, one in zip(self._parts, states, strict=True) if one.finished]
        # not by the times of the pages, which a copy of the results changes
        has = study_page.made_from(self._place.report).splitlines()
        return State(
            asked=sum(one.asked for one in states),
            finished=sum(one.finished for one in states),
            invalid=sum(one.invalid for one in states),
            new=sum(one.new for one in states),
            since_last_s=min(since, default=None),
            running=any(one.running for one in states),
            eta_s=None,
            stale=not self._place.page.is_file()
            or any(one.stale and one.finished for one in states)
            or any(study_page.made_from(part._place.report) not in has for part in begun),
        )

    def _of_study(self) -> State:
        asked = {name for group in self._results.study()["groups"] for name in group["trials"]}
        for name in asked:
            self._look(name)
        finished = {name: found for name in asked if (found := self._known.get(name))}
        times = sorted(when for when, _ in finished.values())
        is_there = self._place.page.is_file()
        new = sum(not (is_there and self._is_shown(name)) for name in finished)
        now = time.time()
        began = _held_since(self._results.folder / LOCK)
        return State(
            asked=len(asked),
            finished=len(finished),
            invalid=sum(not valid for _, valid in finished.values()),
            new=new,
            since_last_s=max(0.0, now - times[-1]) if times else None,
            running=began is not None,
            eta_s=None if began is None else _eta(times, began, len(asked) - len(finished), now),
            stale=not is_there or bool(new) or self._is_of_others(finished),
        )

    def _is_of_others(self, finished: dict[str, tuple[float, bool]]) -> bool:
        """Is the report of other trials, another study or other code? Read once for each change of a file.

        By their content: in a copy of the results, and with the clocks of a cluster, times say nothing.
        """
        said = study_page.made_from(self._place.report)
        times = (said, (self._results.folder / "study.json").stat().st_mtime_ns, finished)
        if times != self._differs[0]:
            try:
                differs = said != key_of(self._results)
            except Damaged:
                # `cambrian report` says what is wrong
                differs = True
            self._differs = (times, differs)
        return self._differs[1]

    def _look(self, name: str) -> None:
        when = _when(self._results.trial(name).folder / _VERDICT)
        if when is None:
            self._known.pop(name, None)
        elif name not in self._known or self._known[name][0] != when:
            try:
                valid = bool(self._results.trial(name).verdict["valid"])
            except (Damaged, KeyError):
                # `cambrian report` says what is wrong with it
                valid = False
            self._known[name] = (when, valid)

    def _is_shown(self, name: str) -> bool:
        """Is the trial in the report?"""
        return (self._place.report / "trials" / f"{name}.json").exists()


def inputs(place: Place) -> dict[str, float | str]:
    """What a comparison is made from: study.json → its hash; each finished trial's verdict → its time.

    A run with nothing to do writes the same study.json again, so its time says nothing. A trial that comes
    into a folder, as `cambrian merge` brings it, may be older than the page. So the page is not compared with
    the newest of these times, but made from exactly these files.

    Raises:
        Damaged: a study.json cannot be used.
    """
    found: dict[str, float | str] = {}
    for part in place.parts:
        results = Results(part.folder)
        asked = {name for group in results.study()["groups"] for name in group["trials"]}
        study = results.folder / "study.json"
        found[str(study)] = hashlib.sha256(study.read_bytes()).hexdigest()
        for name in sorted(asked):
            path = results.trial(name).folder / _VERDICT
            if (when := _when(path)) is not None:
                found[str(path)] = when
    return found


def _eta(times: list[float], began: float, missing: int, now: float) -> float | None:
    """Seconds until ``missing`` trials are done, at the pace of the run's last ones."""
    recent = [when for when in times if when >= began][-_RECENT:]
    if not missing or len(recent) < _FEWEST:
        return None
    pace = (recent[-1] - recent[0]) / (len(recent) - 1)
    return max(pace * missing - (now - recent[-1]), pace)


def _held_since(lock: Path) -> float | None:
    """When the process that holds a lock took it, in seconds since the epoch; None if nobody holds it.

    The kernel's list of locks says it. A lock of our own, for a moment, would stop a run that starts then.
    The list has the number of the file; its device has another number on overlay and btrfs.
    """
    try:
        found = lock.stat()
        lines = _LOCKS.read_text().splitlines()
    except OSError:
        return None
    held = any(
        words[1] == "FLOCK" and words[3] == "WRITE" and words[5].rpartition(":")[2] == str(found.st_ino)
        for words in map(str.split, lines)
        if len(words) > 5
    )
    # opening the file to lock it empties it, which is a change of it
    return found.st_mtime if held else None


def _when(path: Path) -> float | None:
    """When a file was last written, in seconds since the epoch; None if it is missing."""
    try:
        return path.stat().st_mtime
    except OSError:
        return None
