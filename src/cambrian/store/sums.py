"""``SHA256SUMS``: the hash of each file in a folder, in the format of ``sha256sum --check``."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from cambrian.store import reading
from cambrian.store.reading import Damaged

NAME = "SHA256SUMS"


def write(folder: Path) -> None:
    """Hash every file of ``folder`` and write the list."""
    lines = []
    for path in _files(folder):
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {_name(path, folder)}\n")
    (folder / NAME).write_bytes(os.fsencode("".join(lines)))


def is_there(folder: Path) -> bool:
    """Whether ``folder`` has a list; results of older versions have none."""
    return os.path.lexists(folder / NAME)


def damage(folder: Path, store: Path) -> Iterator[Damaged]:
    """Each file that differs from the list, is missing, or is not on the list.

    ``store`` is the results directory that ``folder`` is in.
    """
    place = folder / NAME
    try:
        # names have any bytes; splitlines would also split at characters such as U+2028
        lines = os.fsdecode(reading.content(place, store)).split("\n")
        if not lines[-1]:
            lines.pop()
        listed = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except Damaged as error:
        yield error
        return
    except ValueError:
        yield Damaged(place, "is no list of hashes", store)
        return
    for name, digest in listed.items():
        try:
            if hashlib.sha256(reading.content(folder / name, store)).hexdigest() != digest:
                yield Damaged(folder / name, f"differs from its hash in {NAME}", store)
        except Damaged as error:
            yield error
    for path in _files(folder):
        if _name(path, folder) not in listed:
            yield Damaged(path, f"is not in {NAME}", store)


def _files(folder: Path) -> list[Path]:
    """Everything in ``folder`` that is not a folder, except the list itself."""
    found = (Path(inside, name) for inside, _, names in os.walk(folder) for name in names)
    return sorted(path for path in found if path != folder / NAME)


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
