"""The results folders that are served, and their places in addresses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cambrian.report.suite import ran
from cambrian.store.results import Results
from cambrian.suites.model import RECORD

REPORT = "report"
PAGE = "index.html"
_STUDY = "study.json"


@dataclass(frozen=True)
class Place:
    """A study's or a suite's results at ``/KEY/``. A suite's parts are at ``/KEY/PART/``."""

    key: str
    #: a real path
    folder: Path
    parts: tuple[Place, ...] = ()

    @property
    def is_suite(self) -> bool:
        """Is it a suite? A study has no parts."""
        return bool(self.parts)

    @property
    def report(self) -> Path:
        """The folder of the report."""
        return self.folder / REPORT

    @property
    def page(self) -> Path:
        """The report's page; it may be missing."""
        return self.report / PAGE

    @property
    def address(self) -> str:
        """The page's path in addresses."""
        return f"/{self.key}/{REPORT}/{PAGE}"

    @cached_property
    def title(self) -> str:
        """The study's title; a suite's name."""
        if self.is_suite:
            return self.folder.name
        return str(Results(self.folder).study()["study"]["title"])

    def all(self) -> Iterator[Place]:
        """This place and its parts."""
        yield self
        yield from self.parts


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
        f"cambrian open {' '.join(map(str, found[:3]))}"
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
            Results(folder).study()
            places.append(Place(key, folder))
    return places


def _key(name: str, taken: Sequence[str]) -> str:
    """A name for addresses: letters, digits, dots and dashes; a number makes it different from others."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name).strip("-")
    key, number = plain or "results", 2
    while key in taken:
        key, number = f"{plain or 'results'}-{number}", number + 1
    return key
