"""Parsed TOML tables → models, or one clear :class:`~cambrian.study.errors.StudyError`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from cambrian.study import hints
from cambrian.study.errors import StudyError

Model = TypeVar("Model", bound=BaseModel)


def read_toml(path: Path) -> dict[str, Any]:
    """The file's tables.

    Raises:
        StudyError: it cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StudyError(
            file=str(path),
            problem=f"cannot be read: {(error.strerror or str(error)).lower()}",
            remedy="check the path",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(file=str(path), problem=f"not TOML: {error}", remedy="mend the line") from error


def validated(model: type[Model], given: Any, *, file: str, table: str) -> Model:
    """``given`` as ``model``; ``table`` is what errors call it (``comparison throughput``).

    Strict: no text for a number, no 1 for true.

    Raises:
        StudyError: naming file, table, key, what is wrong and what would be right.
    """
    try:
        return model.model_validate_json(json.dumps(given, default=str), strict=True)
    except ValidationError as error:
        raise _fault(error, given, file, table) from error


def _fault(error: ValidationError, given: Any, file: str, table: str) -> StudyError:
    details = error.errors()
    # a misspelt key is the likely cause of the one that is missing
    detail = next((one for one in details if one["type"] == "extra_forbidden"), details[0])
    where = list(detail["loc"])
    key = ".".join(str(part) for part in where)
    if detail["type"] == "extra_forbidden":
        problem, remedy = "unknown key", _takes(error, where, given)
    elif detail["type"] == "missing":
        problem, remedy = "missing", f"give {where[-1]}"
    elif detail["type"] == "value_error":
        problem, _, remedy = str(detail["ctx"]["error"]).partition(": ")
    else:
        problem, remedy = detail["msg"], "give a value of that kind"
    subject = f"{table}: {key}" if key else table
    return StudyError(file=file, key=subject, problem=problem, remedy=remedy or "mend it")


def _takes(error: ValidationError, where: Sequence[str | int], given: Any) -> str:
    missing = [str(one["loc"][-1]) for one in error.errors() if one["type"] == "missing"]
    near = hints.nearest(str(where[-1]), missing)
    return f"did you mean {near}?" if near else f"leave {where[-1]} out, or mend its spelling"
