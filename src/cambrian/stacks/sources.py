"""The files of a folder that are sources: without what tools, editors and Cambrian itself leave there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from cambrian.stacks import pinned

#: folders of version control: each commit, and even a look at the state, changes them
_HISTORY = frozenset({".git", ".hg", ".svn"})
#: what editors leave while a file is open, or as its earlier version
_EDITORS = re.compile(r"\..*\.sw.|\.#.*|#.*#|.*~|4913")
#: of a results directory (:mod:`cambrian.store.results`): the file that a run locks, its trials, its study
LOCK, TRIALS, STUDY = ".lock", "trials", frozenset({"study.json", "no-study.txt"})


def of_folder(folder: Path) -> Iterator[tuple[Path, str]]:
    """Each source in a folder and those below it, in order, and its name there."""
    found = []
    for inside, folders, files in os.walk(folder):
        folders[:] = [
            name for name in folders if _may_be_source(name) and not _is_results(Path(inside, name))
        ]
        found += [Path(inside, name) for name in files if _may_be_source(name)]
    for path in sorted(found):
        if path.is_file():
            yield path, str(path.relative_to(folder))


def _may_be_source(name: str) -> bool:
    return name not in pinned.NOT_SOURCE | _HISTORY and not _EDITORS.fullmatch(name)


def _is_results(folder: Path) -> bool:
    """Is it a results directory, or the folder ``results`` with one in it? A run itself changes these."""
    if _is_store(folder):
        return True
    return folder.name == "results" and any(_is_store(lock.parent) for lock in folder.rglob(LOCK))


def _is_store(folder: Path) -> bool:
    # before its first trial it has nothing but the lock, which other tools have too
    try:
        names = {path.name for path in folder.iterdir()}
    except OSError:
        # closed to this user
        return False
    return names == {LOCK} or (LOCK in names and bool(names & {TRIALS, *STUDY}))
