"""The studies that come with Cambrian."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from cambrian import paths
from cambrian.study import hints, toml_text
from cambrian.study.errors import StudyError


@dataclass(frozen=True)
class BuiltIn:
    """The heading of a built-in study, and its file."""

    name: str
    title: str
    description: str
    path: Path


def builtin_studies() -> list[BuiltIn]:
    """All built-in studies, sorted by name.

    Raises:
        FileNotFoundError: the installation has no folder of studies.
    """
    studies = []
    for path in sorted(folder().glob("*.toml")):
        heading = toml_text.parse(toml_text.read(path, "the study", "restore the file"), str(path))
        studies.append(BuiltIn(path.stem, heading["title"], heading.get("description", "").strip(), path))
    return studies


def find_study(name_or_path: str) -> Path:
    """The file of a built-in study (by its name) or of a user's study (by its path).

    A text with ``/`` in it or ``.toml`` at its end is taken as a path.

    Raises:
        StudyError: no such study or file.
    """
    looks_like_path = "/" in name_or_path or name_or_path.endswith(".toml")
    # a directory, a named pipe or a link to nowhere is there too; the reader says what is wrong with it
    if looks_like_path and os.path.lexists(name_or_path):
        return Path(name_or_path)
    known = {study.name: study.path for study in builtin_studies()}
    if looks_like_path:
        raise StudyError(
            file=name_or_path,
            problem="no such file",
            remedy=f"check the path, or name a built-in study: {hints.choices(known)}",
        )
    if name_or_path not in known:
        raise StudyError(
            file=name_or_path,
            problem="no built-in study has this name",
            remedy=f"{hints.for_name(name_or_path, known, 'built-in studies are')}; "
            "the path of your own study ends in .toml",
        )
    return known[name_or_path]


def folder() -> Path:
    """The folder of the built-in studies.

    Raises:
        FileNotFoundError: the installation has no such folder.
    """
    place = paths.data() / "studies"
    if not place.is_dir():
        raise FileNotFoundError(f"built-in studies are missing: no folder {place}")
    return place
