"""Reads a file that a user names: it must be an ordinary file of a limited size."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cambrian.study.errors import StudyError


def read(path: Path, called: str, remedy: str, most_bytes: int) -> bytes:
    """The content of ``path``; ``called`` is its name in errors, ``remedy`` is for one that cannot be read.

    Raises:
        StudyError: it cannot be read, is no ordinary file, or has more than ``most_bytes``.
    """
    try:
        # O_NONBLOCK: the open of a named pipe would wait for its writer
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                problem = f"{called} cannot be read: it is {_kind(mode)}"
                raise StudyError(file=str(path), problem=problem, remedy=remedy)
            # files of /proc have no size, so the content counts
            content = file.read(most_bytes + 1)
    except OSError as error:
        problem = f"{called} cannot be read: {(error.strerror or str(error)).lower()}"
        raise StudyError(file=str(path), problem=problem, remedy=remedy) from error
    except ValueError as error:
        problem = f"{called} cannot be read: its path has a NUL character"
        raise StudyError(file=ascii(str(path)), problem=problem, remedy=remedy) from error
    if len(content) > most_bytes:
        problem = f"{called} has more than {most_bytes:,} bytes"
        raise StudyError(file=str(path), problem=problem, remedy="make it smaller, or give another file")
    return content


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFIFO: "a named pipe",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "no ordinary file")
