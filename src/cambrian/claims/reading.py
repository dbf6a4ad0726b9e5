"""TOML files of tests: read, and every fault with its file, line, whose it is, key and remedy."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from cambrian.claims.model import ClaimTest, Expect
from cambrian.effects.model import Bounds
from cambrian.study import hints
from cambrian.study.errors import StudyError
from cambrian.study.positions import Path as Place
from cambrian.study.positions import Positions

Model = TypeVar("Model", bound=BaseModel)
_TABLES: dict[str, type[BaseModel]] = {"test": ClaimTest, "expect": Expect}
_CONDITIONS = frozenset({"where", "a", "b"})
_OF_BOUNDS = ", ".join(field.alias or name for name, field in Bounds.model_fields.items())
_KEYS_ARE_IN = "docs/claims.md has every key"


class TomlFile:
    """A file's tables, each of which becomes a model or one clear error."""

    def __init__(self, path: Path) -> None:
        """Read ``path``.

        Raises:
            FileNotFoundError: there is no such file.
            StudyError: it is not TOML.
        """
        self.path = path
        text = path.read_text()
        try:
            self.raw: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise StudyError(
                file=str(path), problem=f"not TOML: {error}", remedy="key = value lines under [[table]] heads"
            ) from error
        self._positions = Positions(text)

    def tables(self, name: str, model: type[Model]) -> tuple[Model, ...]:
        """All ``[[name]]`` tables, none where there is none.

        Raises:
            StudyError: of the first fault.
        """
        tables = self.raw.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise self.error((name,), f"{name} is no list of tables", f"write [[{name}]]")
        return tuple(self._build(model, (name, index), table) for index, table in enumerate(tables))

    def only(self, names: Sequence[str]) -> None:
        """Raise :class:`StudyError` for a table or key at the top that is not among ``names``."""
        for key in self.raw:
            if key not in names:
                raise self.error((key,), "unknown table", hints.for_name(key, names, "this file takes"))

    def error(self, place: Place, problem: str, remedy: str) -> StudyError:
        """A fault at ``place``, such as ("claim", 3, "text")."""
        where = self._positions.find(place)
        names = [part for part in place if isinstance(part, str)]
        return StudyError(
            file=str(self.path),
            line=where.line,
            column=where.column,
            key=names[-1] if names else "",
            problem=problem,
            remedy=remedy,
        )

    def _build(self, model: type[Model], place: Place, table: Mapping[str, Any]) -> Model:
        try:
            return model.model_validate_json(json.dumps(table, default=str), strict=True)
        except ValidationError as error:
            # what is missing is most likely the key that is unknown
            detail = min(error.errors(), key=lambda one: one["type"] == "missing")
            steps = _steps(tuple(detail["loc"]), table)
            whose = f"of {table['id']}: " if "id" in table else ""
            message, _, remedy = detail["msg"].removeprefix("Value error, ").partition(": ")
            if any(step in _CONDITIONS for step in steps[:-1]):
                remedy = f"column = value, column = [values], or column = {{ one of {_OF_BOUNDS} }}"
                message = "no condition; a column with a dot in its name stands in quotes"
            elif detail["type"] == "extra_forbidden":
                message, remedy = (
                    "unknown key",
                    hints.for_name(str(steps[-1]), _known(model, steps), "it takes"),
                )
            elif detail["type"] == "missing":
                message = "missing"
            raise self.error((*place, *steps), whose + message, remedy or _KEYS_ARE_IN) from error


def _steps(loc: Place, table: Any) -> Place:
    """``loc`` as far as the file goes; without the branches of a union that pydantic names."""
    steps: list[str | int] = []
    for part in loc:
        steps.append(part)
        try:
            table = table[part]
        except (KeyError, IndexError, TypeError):
            return tuple(steps) if isinstance(table, dict) and not _in_condition(steps) else tuple(steps[:-1])
    return tuple(steps)


def _in_condition(steps: Sequence[str | int]) -> bool:
    return any(step in _CONDITIONS for step in steps[:-1])


def _known(model: type[BaseModel], steps: Place) -> list[str]:
    """What the table that holds the last of ``steps`` takes."""
    names = [step for step in steps[:-1] if isinstance(step, str)]
    owner = _TABLES.get(names[-1], Bounds) if names else model
    return [field.alias or name for name, field in owner.model_fields.items()]
