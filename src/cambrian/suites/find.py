"""Find the built-in suite, or its part, that a name on the command line means."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cambrian import paths
from cambrian.study import builtin, hints
from cambrian.study.errors import StudyError
from cambrian.study.positions import Path as Place
from cambrian.suites import model
from cambrian.suites.model import Suite

#: the name of all suites together
ALL = "all"


@dataclass(frozen=True)
class SuiteFolder:
    """A suite and its folder."""

    suite: Suite
    folder: Path


def _own_suite(folder: Path) -> StudyError:
    """The error for a suite's folder: a built-in suite is run by its name, another one cannot be run."""
    if folder.resolve().parent == builtin.folder().resolve():
        remedy = f"give its name: cambrian run {folder.resolve().name}"
        return StudyError(file=str(folder), problem="this is a built-in suite's folder", remedy=remedy)
    parts = sorted(path for path in folder.glob("*.toml") if path.name != model.FILE)
    study = shlex.quote(str(parts[0] if parts else folder / "STUDY.toml"))
    return StudyError(
        file=str(folder / model.FILE),
        problem="only built-in suites are run as a whole",
        remedy=f"put the folder into studies/ of a checkout of Cambrian; "
        f"or run its studies by themselves: cambrian run {study}",
    )


def suites() -> list[SuiteFolder]:
    """All built-in suites, sorted by name.

    Raises:
        StudyError: a suite's file has a fault.
    """
    return [_suite(path) for path in sorted(builtin.folder().glob(f"*/{model.FILE}"))]


def _suite(path: Path) -> SuiteFolder:
    """The suite in ``path``, which has its folder's name and a paper that is there.

    Results are in a folder with the suite's name, and claims and sections look for them there.
    """
    suite, file = model.read(path)
    folder = path.parent.name
    if suite.name != folder:
        problem = f'is "{suite.name}", but the folder is "{folder}"'
        raise file.error(("name",), problem, f'write name = "{folder}", or rename the folder')
    papers = paths.data() / "published"
    if suite.paper is not None and not (papers / suite.paper).is_dir():
        known = [paper.name for paper in papers.iterdir() if paper.is_dir()]
        remedy = f"{hints.for_name(suite.paper, known, 'papers are')}; without a paper, remove the key"
        raise file.error(("paper",), f"there is no folder published/{suite.paper}", remedy)
    return SuiteFolder(suite, path.parent)


def suites_named(name: str) -> tuple[list[SuiteFolder], str | None]:
    """The suites, and the one part if given, for ``all``, ``wpi`` or ``wpi/grid``.

    No suite for the name of a study or the path of a TOML file.

    Raises:
        StudyError: no study or suite has this name, or the suite has no such part.
    """
    if name == ALL:
        return suites(), None
    head, _, part = name.partition("/")
    file = builtin.folder() / head / model.FILE
    if Path(name).name == model.FILE:
        raise _own_suite(Path(name).parent)
    # a file here without a folder is no study (:func:`cambrian.study.builtin.find_study`)
    if name.endswith(".toml") or ("/" in name and Path(name).is_file()):
        return [], None
    if not re.fullmatch(model.NAME, head) or not file.is_file():
        if (builtin.folder() / f"{name}.toml").is_file():
            return [], None
        if (Path(name) / model.FILE).is_file():
            raise _own_suite(Path(name))
        if Path(name).is_dir():
            remedy = f"give a study's TOML file, such as {Path(name) / 'study.toml'}"
            raise StudyError(file=name, problem="is a folder, not a study", remedy=remedy)
        known = [
            *(study.name for study in builtin.builtin_studies()),
            *(found.suite.name for found in suites()),
            ALL,
        ]
        listing = hints.for_name(head, known, "give one of these")
        remedy = f"{listing}; the path of a study of your own ends in .toml"
        raise StudyError(file=name, problem="no built-in study or suite has this name", remedy=remedy)
    found = _suite(file)
    if part and part not in found.suite.parts:
        remedy = hints.for_name(part, found.suite.parts, "its parts are")
        raise StudyError(file=head, key=part, problem="the suite has no such part", remedy=remedy)
    return [found], part or None


def wrong_parts(named: Iterable[tuple[Place, str]]) -> Iterator[tuple[Place, str, str]]:
    """Place, problem and remedy of each name that is no part of a suite, for :meth:`TomlFile.refuse`.

    ``named`` has the place of each name in its file, and the name as results have it: "wpi/grid", or
    "rfc9743/quinn-cubic/droptail" of a suite that is run for contestants.

    Raises:
        StudyError: a suite's file has a fault.
    """
    known = {found.suite.name: found.suite for found in suites()}
    for place, name in named:
        head, _, part = name.partition("/")
        suite = known.get(head)
        if suite is None:
            yield (
                place,
                f"there is no suite {head}",
                hints.for_name(head, known, "write SUITE/PART; suites are"),
            )
            continue
        where = head
        if suite.contestants:
            contestant, _, part = part.partition("/")
            where = f"{head}/{contestant}" if part else f"{head}/STACK-CCA"
        if part not in suite.parts:
            remedy = hints.for_name(part, suite.parts, f"write {where}/PART; its parts are")
            yield place, f"{head} has no part {part}".rstrip(), remedy
