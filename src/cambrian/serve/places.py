"""The results folders that are served, and their places in addresses."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from cambrian import paths
from cambrian.report.compared import settings
from cambrian.report.suite import ran
from cambrian.store import check
from cambrian.store.reading import Damaged
from cambrian.store.results import Results
from cambrian.suites.model import RECORD

REPORT = "report"
PAGE = "index.html"
#: begins the addresses of comparisons
COMPARE = "compare"
_STUDY = "study.json"
_DIGITS = 16


@dataclass(frozen=True)
class Place:
    """A study's or a suite's results at ``/KEY/``. A suite's parts are at ``/KEY/PART/``."""

    key: str
    #: a real path
    folder: Path
    parts: tuple[Place, ...] = ()

    @property
    def is_suite(self) -> bool:
        """Is it a suite or a comparison? A study has no parts."""
        return bool(self.parts)

    @property
    def is_gone(self) -> bool:
        """Have the results been moved or removed?"""
        return not self.folder.is_dir()

    @property
    def report(self) -> Path:
        """The folder of the report."""
        return self.folder / REPORT

    @property
    def page(self) -> Path:
        """The report's page; it may be missing."""
        return self.report / PAGE

    @property
    def page_ns(self) -> int:
        """When the report's page was written, in ns since the epoch; 0 if it is missing."""
        try:
            return self.page.stat().st_mtime_ns
        except OSError:
            # a report may be exchanging it
            return 0

    @property
    def address(self) -> str:
        """The page's path in addresses."""
        return f"/{self.key}/{REPORT}/{PAGE}"

    @property
    def making(self) -> tuple[str, ...]:
        """The words after ``cambrian`` that make the page."""
        return "report", str(self.folder)

    @property
    def kind(self) -> str:
        """What the page is, in a word."""
        return "report"

    @property
    def title(self) -> str:
        """The study's title now; a suite's name. The folder's name if study.json cannot be read."""
        if self.is_suite:
            return self.folder.name
        try:
            return str(Results(self.folder).study()["study"]["title"])
        except (Damaged, OSError):
            return self.folder.name

    def all(self) -> Iterator[Place]:
        """This place and its parts."""
        yield self
        yield from self.parts


class Comparison(Place):
    """Two studies' results, compared, at ``/compare/KEY+KEY/``; its page is kept in the cache.

    ``parts`` are the earlier and the later results.
    """

    @property
    def making(self) -> tuple[str, ...]:
        """The words after ``cambrian`` that make the page."""
        before, after = self.parts
        return "compare", str(before.folder), str(after.folder), "--page", str(self.report)

    @property
    def kind(self) -> str:
        """What the page is, in a word."""
        return "comparison"

    @property
    def is_gone(self) -> bool:
        """Has one of the two folders been moved or removed?"""
        return any(one.is_gone for one in self.parts)

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two folders, as short as they differ."""
        before, after = self.parts
        return settings.names(before.folder, after.folder)

    @property
    def title(self) -> str:
        """The two folders."""
        return " → ".join(self.names)


def comparisons(places: Sequence[Place]) -> list[Comparison]:
    """A comparison for each pair of places, or of their parts, that have the same study.

    Raises:
        Damaged: a study.json cannot be used.
    """
    studies = [[one for one in place.all() if not one.is_suite] for place in places]
    return [
        Comparison(f"{COMPARE}/{before.key}+{after.key}", _kept(before, after), (before, after))
        for mine, others in combinations(studies, 2)
        for before in mine
        for after in others
        if _study(before) == _study(after)
    ]


def _study(place: Place) -> str:
    return str(Results(place.folder).study()["study"]["name"])


def _kept(before: Place, after: Place) -> Path:
    """The folder of a comparison, a real path; it may be missing."""
    names = "\0".join((str(before.folder), str(after.folder)))
    digest = hashlib.sha256(names.encode()).hexdigest()[:_DIGITS]
    return Path(os.path.realpath(paths.cache() / "compared" / digest))


def alone(results: Path) -> Path:
    """The only results directory in the folder ``results``.

    Raises:
        FileNotFoundError: there is none, or more than one.
    """
    found = sorted(path.parent for name in (_STUDY, RECORD) for path in results.glob(f"*/{name}"))
    if len(found) == 1:
        return found[0]
    if not found:
        raise FileNotFoundError(
            f"no results in {results}; remedy: cambrian run STUDY, or name a folder: cambrian open DIR"
        )
    raise FileNotFoundError(
        f"{results} has {len(found)} results directories; remedy: name one or more: "
        f"cambrian open {shlex.join(map(str, found[:3]))}"
    )


def find(folders: Iterable[Path]) -> list[Place]:
    """The places of results directories, in this order; each directory once.

    Raises:
        FileNotFoundError: one is no results directory.
        Damaged: its study.json or suite.json cannot be used.
        StudyError: its suite is unknown.
    """
    places: list[Place] = []
    for folder in dict.fromkeys(Path(os.path.realpath(one)) for one in folders):
        key = _key(folder.name, [place.key for place in places])
        if ran.is_suite(folder):
            parts = tuple(Place(f"{key}/{part.place}", part.folder) for part in ran.read(folder).parts)
            if not parts:
                raise FileNotFoundError(f"{folder} has no part that ran; remedy: cambrian run")
            places.append(Place(key, folder, parts))
        else:
            check.require_study(folder)
            places.append(Place(key, folder))
    return places


def _key(name: str, taken: Sequence[str]) -> str:
    """A name for addresses: letters, digits, dots and dashes; a number makes it different from others."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name).strip("-")
    key, number = plain or "results", 2
    while key in (*taken, COMPARE):
        key, number = f"{plain or 'results'}-{number}", number + 1
    return key
