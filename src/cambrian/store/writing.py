"""Writes files so that they are whole or absent, also after a power cut.

A new file gets a temporary name; its bytes go to the disk; then it gets its own name. The order
matters: a file system may otherwise store the name before the bytes.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def write_json(path: Path, data: object) -> None:
    """Write JSON to ``path``, whole or not at all.

    Raises:
        OSError: it cannot be written; an older file is still there.
    """
    # JSON first: an object that is no JSON must not leave half a file
    text = json.dumps(data, indent=1) + "\n"
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_text(text)
        sync(fresh)
        fresh.rename(path)
        sync(path.parent)
    except OSError as error:
        # an error of write() does not say which file it is about
        error.filename = str(path)
        raise
    finally:
        # after an error; after a success the name is free
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def write_parquet(path: Path, frame: pl.DataFrame) -> None:
    """Write a table to ``path``.

    polars itself takes no path that is not UTF-8, and its error for a full disk is no OSError.

    Raises:
        OSError: it cannot be written.
    """
    buffer = BytesIO()
    frame.write_parquet(buffer)
    path.write_bytes(buffer.getbuffer())


def sync(path: Path) -> None:
    """Wait until a file, or a folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Wait until everything in ``folder`` is on the disk."""
    for inside, _, files in os.walk(folder):
        for name in files:
            sync(Path(inside, name))
        sync(Path(inside))


def put(fresh: Path, place: Path) -> None:
    """Give the folder ``fresh`` the name ``place`` and remove what had this name before."""
    aside = fresh.with_name(f"{fresh.name}-old")
    if os.path.lexists(place):
        place.rename(aside)
    fresh.rename(place)
    sync(place.parent)
    remove(aside)


def remove(path: Path) -> None:
    """Remove a folder with everything in it, a file or a link, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
