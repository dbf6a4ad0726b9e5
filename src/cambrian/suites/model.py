"""The model of a suite, and reading it from ``studies/NAME/suite.toml``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from cambrian.study.model import Frozen
from cambrian.study.naming import slug
from cambrian.study.toml_file import TomlFile

#: the file that makes a folder of studies a suite
FILE = "suite.toml"
#: its tables for the sections of the suite's page
SECTION = "section"
#: the file in a suite's results folder that records what was run
RECORD = "suite.json"
#: placeholder in a part for the kernel CCA that is the contestant's reference, beside $STACK and $CCA
REFERENCE = "$REFERENCE"

#: names of suites and their parts
NAME = r"[a-z0-9][a-z0-9-]*"
PartName = Annotated[str, Field(pattern=f"^{NAME}$")]
#: ``stack/cca``
ContestantName = Annotated[str, Field(pattern=r"^[^/\s]+/[^/\s]+$")]


class Suite(Frozen):
    """``parts``: names of the folder's studies, in the order in which they are run.

    With ``contestants``, the whole suite is run once for each contestant.
    """

    name: PartName
    title: str
    description: str = ""
    #: folder in ``published/`` with the paper's claims and figures
    paper: str | None = None
    parts: Annotated[tuple[PartName, ...], Field(min_length=1)]
    contestants: tuple[ContestantName, ...] = ()


def folder_of(contestant: str) -> str:
    """``google-quiche/bbr2`` → ``google-quiche-bbr2``."""
    return slug(contestant)


def read(path: Path) -> tuple[Suite, TomlFile]:
    """The suite in ``path``, and the file itself (its page's sections are read by the report).

    Raises:
        StudyError: the file is no valid suite; with line, key and remedy.
    """
    file = TomlFile(path, "docs/reference/suites.md", called="the suite", if_unread="name a built-in suite")
    file.check_keys([*Suite.model_fields, SECTION])
    suite = file.build(Suite, (), {key: file.raw[key] for key in Suite.model_fields if key in file.raw})
    for number, part in enumerate(suite.parts):
        if not (path.parent / f"{part}.toml").is_file():
            problem, remedy = f"there is no {part}.toml in this folder", "correct the list, or add the study"
            raise file.error(("parts", number), problem, remedy)
    return suite, file
