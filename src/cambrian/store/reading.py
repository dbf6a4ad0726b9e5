"""Reads the files of a results directory; whatever is wrong with one of them raises :class:`Damaged`."""

from __future__ import annotations

import errno
import json
import os
import shlex
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
from pydantic import BaseModel, ValidationError

#: what opening a file says of the file itself; any other error is of the reader's rights, limits or disk
_OF_THE_FILE = (errno.ENOENT, errno.EISDIR, errno.ELOOP, errno.ENXIO, errno.ENOTDIR)
#: polars' errors about the content of a file; a panic is an error that its authors did not expect
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)


class Damaged(Exception):
    """A file of a results directory that cannot be used: which one, what is wrong, and the remedy."""

    def __init__(self, path: Path, why: str, store: Path) -> None:
        """``store`` is the results directory that ``path`` is in."""
        # all arguments are passed on: pickle makes the exception from them in another process
        super().__init__(path, why, store)
        self.path, self.why, self.store = path, why, store

    def __str__(self) -> str:
        """``PATH: WHY; remedy: cambrian doctor STORE --mend, …``."""
        command = f"cambrian doctor {shlex.quote(str(self.store))} --mend"
        return f"{self.path}: {self.why}; remedy: {command}, then run the study again"


class Unread(Damaged):
    """A file that this process cannot read, whatever is in it."""

    def __str__(self) -> str:
        """``PATH: cannot be read: WHY; remedy: …``."""
        return f"{self.path}: {self.why}; remedy: {READABLE}"


#: the remedy where a file cannot be read
READABLE = "make it readable (its rights, those of its folders, the disk), then run the command again"


def kind_of(mode: int) -> str:
    """The kind of a directory's entry, in words, from its ``st_mode``."""
    kinds = {
        stat.S_IFREG: "a file",
        stat.S_IFDIR: "a folder",
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
    }
    return kinds.get(stat.S_IFMT(mode), "a device")


def content(path: Path, store: Path) -> bytes:
    """The bytes of a regular file.

    Raises:
        Damaged: it is missing or not a regular file; :class:`Unread` if this process cannot read it.
    """
    with _opened(path, store) as file:
        try:
            return file.read()
        except OSError as error:
            raise _unread(path, error, store) from error


def _opened(path: Path, store: Path) -> BinaryIO:
    """A regular file, open to be read; raises as :func:`content`."""
    try:
        # without O_NONBLOCK, opening a named pipe waits for a writer for ever
        file = open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")  # noqa: PTH123, SIM115
    except FileNotFoundError:
        raise Damaged(path, "is missing", store) from None
    except IsADirectoryError:
        raise Damaged(path, "is a folder, not a file", store) from None
    except OSError as error:
        raise _unread(path, error, store) from error
    mode = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(mode):
        file.close()
        raise Damaged(path, f"is {kind_of(mode)}, not a file", store)
    return file


def _unread(path: Path, error: OSError, store: Path) -> Damaged:
    kind = Damaged if error.errno in _OF_THE_FILE else Unread
    return kind(path, f"cannot be read: {error.strerror}", store)


def json_file(path: Path, shape: type[BaseModel], store: Path, *, complete: bool = True) -> dict[str, Any]:
    """The content of a JSON file that has the keys and types of ``shape``, as plain data.

    Without ``complete``, keys may be missing.

    Raises:
        Damaged: it cannot be read, or is not such a file.
    """
    raw = content(path, store)
    if not raw.strip():
        raise Damaged(path, "is empty", store)
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Damaged(path, f"is no JSON: {error}", store) from error
    if not isinstance(data, dict):
        raise Damaged(path, "is no JSON object", store)
    try:
        shape.model_validate(data)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            if complete or fault["type"] != "missing":
                place = ".".join(map(str, fault["loc"])) or "its content"
                raise Damaged(path, f"{place}: {fault['msg']}", store) from error
    return data


def frame(path: Path, columns: Mapping[str, Any], store: Path) -> pl.DataFrame:
    """The content of a parquet file that has these columns.

    Raises:
        Damaged: it cannot be read, or lacks a column.
    """
    raw = content(path, store)
    try:
        read = pl.read_parquet(raw)
    except _POLARS_ERRORS as error:
        raise _no_parquet(path, raw, error, store) from error
    _require(path, read.schema, columns, store)
    return read


def check_columns(path: Path, columns: Mapping[str, Any], store: Path) -> None:
    """Check the end of a parquet file, which lists the columns; fast, but misses damage in the middle.

    Raises:
        Damaged: it cannot be read, or lacks a column.
    """
    # a path of its own would be a pattern to polars
    with _opened(path, store) as file:
        try:
            schema = pl.read_parquet_schema(file)
        except _POLARS_ERRORS as error:
            if isinstance(error, OSError) and error.errno:
                raise _unread(path, error, store) from error
            raw = b"?" if os.fstat(file.fileno()).st_size else b""
            raise _no_parquet(path, raw, error, store) from error
    _require(path, schema, columns, store)


def _no_parquet(path: Path, raw: bytes, error: BaseException, store: Path) -> Damaged:
    first = (str(error).splitlines() or [type(error).__name__])[0]
    return Damaged(path, f"is no whole parquet file: {first}" if raw else "is empty", store)


def _require(path: Path, found: Mapping[str, Any], columns: Mapping[str, Any], store: Path) -> None:
    for name, wanted in pl.Schema(columns).items():
        if name not in found:
            raise Damaged(path, f"lacks the column {name}", store)
        if found[name] != wanted:
            raise Damaged(path, f"its column {name} is {found[name]}, not {wanted}", store)
