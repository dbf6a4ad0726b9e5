"""Reads a TOML file's text and tables; errors are :class:`~cambrian.study.errors.StudyError`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from cambrian.study.errors import StudyError

_REMEDIES = {
    "Invalid value": 'put text in quotes (queue = "codel"), numbers without quotes (rtt_ms = 50)',
    "Expected '=' after a key": "write key = value",
    "Expected newline or end of document": "one key = value per line; commas between the elements of a list",
    "Cannot overwrite": "give each key once; start another table with its own line, such as [[network]]",
    "Cannot declare": "give each table once; tables that repeat have double brackets: [[network]]",
    "Unclosed array": "close the list with ]",
    "Unclosed inline table": "close the table with }",
    "Illegal character '\\n'": "close the text with a quote on the same line",
}


def read(path: Path, called: str, remedy: str) -> str:
    """The text of ``path``; ``called`` is its name in errors, ``remedy`` is for a file that cannot be read.

    Raises:
        StudyError: it cannot be read, or is not UTF-8 (with the line).
    """
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        problem = f"{called} cannot be read: {(error.strerror or str(error)).lower()}"
        raise StudyError(file=str(path), problem=problem, remedy=remedy) from error
    except UnicodeDecodeError as error:
        raise StudyError(
            file=str(path),
            line=error.object[: error.start].count(b"\n") + 1,
            problem="not UTF-8 text",
            remedy="save the file as UTF-8",
        ) from error


def parse(text: str, file: str) -> dict[str, Any]:
    """The tables of ``text``; ``file`` is its name in errors.

    Raises:
        StudyError: it is not TOML; with line, column and remedy.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(text, file, str(error)) from error


def _syntax_error(text: str, file: str, message: str) -> StudyError:
    """The error for a message of tomllib, ending in ``(at line L, column C)`` or ``(at end of document)``."""
    lines = text.splitlines() or [""]
    problem, _, place = message.rpartition(" (at ")
    numbers = [int(number) for number in re.findall(r"\d+", place)]
    line, column = numbers if len(numbers) == 2 else (len(lines), len(lines[-1]) + 1)
    source = lines[line - 1] if line <= len(lines) else ""
    key = source.partition("=")[0].strip() if "=" in source else ""
    remedy = next(
        (remedy for start, remedy in _REMEDIES.items() if problem.startswith(start)),
        "TOML 1.0 has key = value lines under [[table]] heads",
    )
    problem = f"not TOML: {problem[:1].lower()}{problem[1:]}"
    return StudyError(file=file, line=line, column=column, key=key, problem=problem, remedy=remedy)
