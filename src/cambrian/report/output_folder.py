"""The folders that reports and the atlas are written to: only an empty one, or one that holds an earlier one.

An earlier report's files are deleted, so a folder with a person's own files must not be taken for one.
"""

from __future__ import annotations

from pathlib import Path

from cambrian.suites.model import RECORD

#: what only a folder of results has
_RESULTS = ("study.json", RECORD)
#: the kinds of files that reports have in their folders
_SUFFIXES = frozenset({".js", ".csv", ".json", ".png", ".svg", ".pdf"})


def check(out: Path, mark: str, first_line: str) -> None:
    """Refuse a folder that has files of someone else.

    ``mark`` is the file by whose ``first_line`` an earlier report is known.

    Raises:
        FileExistsError: the folder has files, but no report; or it has results.
    """
    remedy = "remedy: give a new or an empty folder"
    if any((out / name).exists() for name in _RESULTS):
        raise FileExistsError(f"{out} is a folder of results, so nothing else is written to it; {remedy}")
    if out.exists() and any(out.iterdir()) and not _starts(out / mark, first_line):
        raise FileExistsError(f"{out} has files, and is no earlier output of this command; {remedy}")


def _starts(path: Path, line: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8", errors="replace").startswith(f"{line}\n")


def empty(folder: Path) -> None:
    """Make the folder, without the files of an earlier report, which must not mix with this one's."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.suffix in _SUFFIXES and (old.is_symlink() or not old.is_dir()):
            old.unlink()
