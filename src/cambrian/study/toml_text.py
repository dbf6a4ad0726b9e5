"""Reads a TOML file's text and tables; errors are :class:`~cambrian.study.errors.StudyError`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from cambrian.study import input_file
from cambrian.study.errors import StudyError

#: largest TOML file: ours have at most 60 KB, and reading 1 MiB can take five seconds
MOST_BYTES = 2**20
#: deepest nesting of tables and lists, and most parts of a dotted key; our files need 6
MOST_LEVELS = 32
#: longest key; the longest of ours has 36 characters
MOST_KEY_CHARACTERS = 100
#: Python does not print longer whole numbers, so no error could show them
_MOST_DIGITS = 4000
#: a dotted key of more than ``MOST_LEVELS`` parts. tomllib needs a time that grows with the square of the
#: parts, so such a key must be found before it reads the text
_LONG_DOTTED_KEY = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+)"""
    rf"{{{MOST_LEVELS}}}"
)

_DECIMAL_COMMA = re.compile(r"=\s*\d+,\d+\s*(#.*)?$")

_REMEDIES = {
    "Invalid value": 'put text in quotes (queue = "codel"), numbers without quotes (rtt_ms = 50)',
    "Expected '=' after a key": "write key = value",
    "Expected newline or end of document": "one key = value per line; commas between the elements of a list",
    "Cannot overwrite": "give each key once; start another table with its own line, such as [[network]]",
    "Cannot declare": "give each table once; tables that repeat have double brackets: [[network]]",
    "Unclosed array": "close the list with ]",
    "Unterminated string": "close the text with a quote",
    "Unclosed inline table": "close the table with }",
    "Illegal character '\\n'": "close the text with a quote on the same line",
}


def read(path: Path, called: str, remedy: str) -> str:
    """The text of ``path``; ``called`` is its name in errors, ``remedy`` is for a file that cannot be read.

    Raises:
        StudyError: it cannot be read, is no file, is too large, or is not UTF-8 (with the line).
    """
    content = input_file.read(path, called, remedy, MOST_BYTES)
    try:
        # some editors put a byte order mark first
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StudyError(
            file=str(path),
            line=content[: error.start].count(b"\n") + 1,
            problem="not UTF-8 text",
            remedy="save the file as UTF-8",
        ) from error


def parse(text: str, file: str) -> dict[str, Any]:
    """The tables of ``text``; ``file`` is its name in errors.

    Raises:
        StudyError: it is not TOML, is nested too deeply, or has a key or a number that is too long; with
            the line if it is known, and the remedy.
    """
    # the keys of a comment or a text are harmless, but no such text is likely
    if long := _LONG_DOTTED_KEY.search(text):
        line = text.count("\n", 0, long.start()) + 1
        raise _too_deep(file, line=line)
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(text, file, str(error)) from error
    except RecursionError as error:
        raise _too_deep(file) from error
    except ValueError as error:  # int() refuses a number of thousands of digits
        raise _too_long_number(file) from error
    _check_shape(tables, file)
    return tables


def _check_shape(tables: dict[str, Any], file: str) -> None:
    """Refuse what would stop the code after this: deep nesting, long keys, numbers that cannot be printed."""
    # a list instead of recursion: the nesting is not known to be harmless yet
    waiting: list[tuple[Any, int]] = [(tables, 0)]
    while waiting:
        value, level = waiting.pop()
        if isinstance(value, dict):
            for key in value:
                _check_key(key, file)
            inside = list(value.values())
        elif isinstance(value, list):
            inside = value
        else:
            if isinstance(value, int) and value.bit_length() > 3 * _MOST_DIGITS:
                raise _too_long_number(file)
            continue
        if level > MOST_LEVELS:
            raise _too_deep(file)
        waiting += [(one, level + 1) for one in inside]


def _check_key(key: str, file: str) -> None:
    if len(key) > MOST_KEY_CHARACTERS:
        problem = f"the key {key[:40]}… has {len(key):,} characters"
        remedy = f"give keys of at most {MOST_KEY_CHARACTERS} characters"
        raise StudyError(file=file, problem=problem, remedy=remedy)
    if not key.isprintable():
        problem = f"the key {key!a} has a character that cannot be printed"
        raise StudyError(file=file, problem=problem, remedy="remove the character")


def _too_deep(file: str, line: int | None = None) -> StudyError:
    problem = f"tables and lists are nested more than {MOST_LEVELS} deep"
    remedy = "remove the inner brackets, or the dots of the key"
    return StudyError(file=file, line=line, column=None, problem=problem, remedy=remedy)


def _too_long_number(file: str) -> StudyError:
    problem = "a whole number has thousands of digits"
    return StudyError(file=file, problem=problem, remedy="give numbers of at most 64 bits")


def _syntax_error(text: str, file: str, message: str) -> StudyError:
    """The error for a message of tomllib, ending in ``(at line L, column C)`` or ``(at end of document)``."""
    lines = text.splitlines() or [""]
    problem, _, place = message.rpartition(" (at ")
    numbers = [int(number) for number in re.findall(r"\d+", place)]
    line, column = numbers if len(numbers) == 2 else (len(lines), len(lines[-1]) + 1)
    source = lines[line - 1] if line <= len(lines) else ""
    key = source.partition("=")[0].strip() if "=" in source else ""
    before, after = source[: column - 1], source[column - 1 :]
    # what is read there as a value may be the next line, or the end of the text
    ends = not after.strip() or ("=" in after and "=" not in before)
    value = "\n".join([*lines[: line - 1], before]).rpartition("=")[2]
    if _DECIMAL_COMMA.search(source):
        remedy = "write a number with a decimal point, such as 0.5"
    elif problem == "Invalid value" and ends:
        remedy = (
            _REMEDIES["Unclosed array"] if value.count("[") > value.count("]") else "give a value after ="
        )
    else:
        remedy = _remedy(problem)
    problem = f"not TOML: {problem[:1].lower()}{problem[1:]}"
    return StudyError(
        file=file, line=line, column=column, key=key, problem=problem, remedy=remedy, source=source
    )


def _remedy(problem: str) -> str:
    return next(
        (remedy for start, remedy in _REMEDIES.items() if problem.startswith(start)),
        "TOML 1.0 has key = value lines under [[table]] heads",
    )
