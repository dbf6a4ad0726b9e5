"""Packs folders for a transfer, and gives them an address by content."""

from __future__ import annotations

import hashlib
import os
import stat
import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO


class Corrupt(RuntimeError):
    """What arrived is not what was sent."""


def digest(folder: Path, files: Sequence[str] = ()) -> str:
    """SHA-256 of everything in ``folder``: names, rights, contents, targets of links.

    With ``files``, only these count. ``build.json``, which has the duration of a build, and Python's bytecode
    do not count.

    Raises:
        OSError: a file is missing or cannot be read.
    """
    whole = hashlib.sha256()
    for path in _entries(folder, files):
        state = path.lstat()
        kind = stat.S_IFMT(state.st_mode)
        mode = 0 if kind == stat.S_IFLNK else stat.S_IMODE(state.st_mode) & 0o777
        content = b""
        if kind == stat.S_IFLNK:
            content = os.fsencode(path.readlink())
        elif kind == stat.S_IFREG:
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").digest()
        name = os.fsencode(path.relative_to(folder))
        whole.update(b"%s\0%o %o %d\0%s" % (name, kind, mode, len(content), content))
    return whole.hexdigest()


def pack(folder: Path, stream: BinaryIO, files: Sequence[str] = ()) -> None:
    """Write what :func:`digest` counts to ``stream``, as a tar archive."""
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in _entries(folder, files):
            archive.add(path, path.relative_to(folder).as_posix(), recursive=False)


def unpack(stream: BinaryIO, folder: Path, *, links: bool) -> None:
    """Extract an archive into ``folder``; ``links`` permits links besides files and folders.

    Raises:
        Corrupt: it is no whole archive, or has an entry that has no place in one.
    """
    try:
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            members = archive.getmembers()
            for member in members:
                _check(member, links=links)
                member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
            # every entry has been checked; the standard library's own filters refuse absolute links
            archive.extraction_filter = lambda member, _: member
            archive.extractall(folder, members)  # noqa: S202
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise Corrupt(f"no whole archive: {error}") from error


def _check(member: tarfile.TarInfo, *, links: bool) -> None:
    name = PurePosixPath(member.name)
    plain = member.isreg() or member.isdir()
    if (
        name.is_absolute()
        or ".." in name.parts
        or not (plain or (links and (member.issym() or member.islnk())))
    ):
        raise Corrupt(f"the archive has an entry {member.name!r} that it cannot have")


def _entries(folder: Path, files: Sequence[str]) -> list[Path]:
    if files:
        return [folder / name for name in files]
    found = []
    for inside, folders, names in os.walk(folder):
        place = Path(inside)
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [place / name for name in folders]
        found += [place / name for name in names if not name.endswith(".pyc")]
    return sorted(path for path in found if path != folder / "build.json")
