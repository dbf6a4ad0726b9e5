"""JSON text → :class:`~cambrian.study.model.Trial`, or one clear :class:`StudyError`."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from cambrian.study import input_file
from cambrian.study.errors import StudyError
from cambrian.study.model import Trial

#: largest description of a trial
_MOST_BYTES = 2**20
_REMEDY = "give a JSON file, such as report/trials/ID.json of a report"


def read(path: Path) -> Trial:
    """The trial that ``path`` describes; whether its stacks exist is not checked.

    Raises:
        StudyError: it cannot be read, or is no trial; with the key and the remedy.
    """
    text = input_file.read(path, "the trial", _REMEDY, _MOST_BYTES)
    try:
        return Trial.model_validate_json(text)
    except ValidationError as error:
        if b'"packets_sha256"' in text:
            problem = 'is a trial\'s manifest, which has the description in "trial"'
            raise StudyError(file=str(path), problem=problem, remedy=_REMEDY) from error
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise StudyError(file=str(path), key=key, problem=first["msg"], remedy=_REMEDY) from error
