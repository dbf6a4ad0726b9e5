"""The command that made a study's results, as ``study.json`` has it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

_ONLY = "--only"


def words(command: str) -> list[str]:
    """The command's words. If its quotes are wrong, as earlier versions left some, spaces divide it."""
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def with_only(command: str, words_for: Callable[[str], Sequence[str]]) -> list[str]:
    """The command's words, with ``words_for(PATTERN)`` in place of each ``--only PATTERN``."""
    found = words(command)
    made: list[str] = []
    while found:
        first, *found = found
        if first == _ONLY and found:
            pattern, *found = found
            made += words_for(pattern)
        else:
            made.append(first)
    return made
