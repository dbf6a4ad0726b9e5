"""What a suite is, and reading it from ``studies/NAME/suite.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from cambrian.study.errors import StudyError
from cambrian.study.model import Frozen
from cambrian.study.naming import slug

#: the file that makes a folder of studies a suite
FILE = "suite.toml"
#: what a suite's results folder says of itself
RECORD = "suite.json"
#: what stands in a part for the contestant that the suite is run for
PLACEHOLDERS = ("$STACK", "$CCA")

#: of suites and their parts
NAME = r"[a-z0-9][a-z0-9-]*"
PartName = Annotated[str, Field(pattern=f"^{NAME}$")]
#: ``stack/cca``
ContestantName = Annotated[str, Field(pattern=r"^[^/\s]+/[^/\s]+$")]


class Suite(Frozen):
    """``parts`` are the names of the folder's studies, in the order in which they are run.

    With ``contestants``, the whole suite is run once for each of them.
    """

    name: PartName
    title: str
    description: str = ""
    #: folder in ``published/`` with what the paper says
    paper: str | None = None
    parts: Annotated[tuple[PartName, ...], Field(min_length=1)]
    contestants: tuple[ContestantName, ...] = ()


def folder_of(contestant: str) -> str:
    """``google-quiche/bbr2`` → ``google-quiche-bbr2``."""
    return slug(contestant)


def read(path: Path) -> tuple[Suite, Mapping[str, Any]]:
    """The suite in ``path``, and the file's whole content (its page's sections are read by the report).

    Raises:
        StudyError: the file is no suite, with its key and remedy.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        problem = f"the suite cannot be read: {(error.strerror or str(error)).lower()}"
        raise StudyError(file=str(path), problem=problem, remedy="name a built-in suite") from error
    except tomllib.TOMLDecodeError as error:
        raise StudyError(file=str(path), problem=f"not TOML: {error}", remedy="mend this line") from error
    try:
        suite = Suite.model_validate({key: value for key, value in raw.items() if key != "section"})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        remedy = f"a suite has {', '.join(Suite.model_fields)} and [[section]]s"
        raise StudyError(file=str(path), key=key, problem=first["msg"].lower(), remedy=remedy) from error
    for part in suite.parts:
        if not (path.parent / f"{part}.toml").is_file():
            problem, remedy = f"there is no {part}.toml beside it", "mend the list, or write that study"
            raise StudyError(file=str(path), key="parts", problem=problem, remedy=remedy)
    return suite, raw
