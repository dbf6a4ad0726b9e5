"""What a guest left in its folder: only regular files of a bounded size are read.

A program of a guest can leave links, pipes and devices, which would lead a reader out of the folder or block
it, and files that take minutes to read.
"""

from __future__ import annotations

import math
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cambrian.testbed.contract import Plan
from cambrian.testbed.users import LOGS_SUFFIX

#: largest file of lines (standard output and standard error of a program): these are read line by line
LINES_BYTES = 32 * 2**20
TRANSPORT_LOG, QLOG, NETLOG, KEYS = "transport.csv", "qlog", "netlog.json", "keys.log"
#: a log that is read → the side that writes it: a client's own controller sends only acknowledgements
_LOGS = {TRANSPORT_LOG: "sender", QLOG: "sender", NETLOG: "receiver", KEYS: "receiver"}
#: largest log of a program; an endpoint at 1 Gbit/s writes 600 MB in two minutes
LOG_BYTES = 2**30
_LINE_SUFFIXES = frozenset({".out", ".err"})
#: most files and folders; a trial with one qlog for each connection of a page leaves some hundreds
MOST_ENTRIES = 20_000
#: deepest folder
_DEEPEST = 4


def prepare(folder: Path, plan: Plan) -> None:
    """Make the folders in which the programs of the plan may write."""
    for number, flow in enumerate(plan["flows"]):
        for side, program in (("sender", flow["sender"]), ("receiver", flow["receiver"])):
            if program.get("logs"):
                own = folder / f"flow{number}.{side}{LOGS_SUFFIX}"
                own.mkdir()
                # the guest's user of the program is another than the host's owner
                own.chmod(0o777)


def gather(folder: Path) -> tuple[str, ...]:
    """``flowN.SIDE.logs/FILE`` becomes ``flowN.FILE`` for the logs that are read; others are removed.

    Only qlog is a folder. Returns a sentence for each log that is a file in place of a folder, or the
    reverse.
    """
    unread = []
    for own in sorted(folder.glob(f"flow*{LOGS_SUFFIX}")):
        flow, side, _ = own.name.split(".")
        for path in sorted(own.iterdir()):
            if _LOGS.get(path.name) != side:
                continue
            if path.is_dir() == (path.name == QLOG):
                path.rename(folder / f"{flow}.{path.name}")
            else:
                found, wanted = ("folder", "file") if path.is_dir() else ("file", "folder")
                unread.append(f"{flow}.{side} left {path.name} as a {found}; it is read only as a {wanted}")
        shutil.rmtree(own)
    return tuple(unread)


def clean(folder: Path) -> tuple[str, ...]:
    """Remove what must not be read from ``folder``, after the guest's end; returns a sentence for each."""
    removed = []
    for number, (path, entry, depth) in enumerate(_walk(folder)):
        name = path.relative_to(folder)
        why = ""
        if number >= MOST_ENTRIES:
            why = f"the guest left more than {MOST_ENTRIES:,} files"
        elif stat.S_ISDIR(entry.st_mode):
            why = f"{name} is a folder {depth} levels deep" if depth > _DEEPEST else ""
        elif not stat.S_ISREG(entry.st_mode):
            why = f"{name} is no regular file but {_KINDS.get(stat.S_IFMT(entry.st_mode), 'something else')}"
        elif entry.st_nlink > 1:
            why = f"{name} has a second name (a hard link)"
        elif entry.st_size > (most := _most_bytes(path, depth)):
            why = f"{name} has {entry.st_size / 2**20:.0f} MiB, more than {most / 2**20:.0f} MiB"
            why += ": make the program write less, or switch its logging off"
        if why:
            removed.append(why)
            _remove(path, entry)
        if number >= MOST_ENTRIES:
            _empty(folder)
            break
    return tuple(removed)


def _most_bytes(path: Path, depth: int) -> float:
    """The largest size that is read; files of the testbed have no limit of their own."""
    if path.suffix in _LINE_SUFFIXES:
        return LINES_BYTES
    return LOG_BYTES if depth > 1 else math.inf


_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def size_bytes(folder: Path) -> int:
    """Bytes that all files below ``folder`` take on the disk, while a guest still writes."""
    total = 0
    for number, (_, entry, _) in enumerate(_walk(folder)):
        # an entry itself takes space too
        total += max(entry.st_blocks * 512, 0) + 256
        if number > 2 * MOST_ENTRIES:
            break
    return total


def _walk(folder: Path) -> Iterator[tuple[Path, os.stat_result, int]]:
    """(path, its own status, depth) of every entry below ``folder``, without following links."""
    folders = [(folder, 1)]
    while folders:
        here, depth = folders.pop()
        try:
            entries = os.scandir(here)
        except OSError:
            continue
        with entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    yield Path(entry.path), status, depth
                    if stat.S_ISDIR(status.st_mode) and depth <= _DEEPEST:
                        folders.append((Path(entry.path), depth + 1))


def _remove(path: Path, entry: os.stat_result) -> None:
    if stat.S_ISDIR(entry.st_mode):
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _empty(folder: Path) -> None:
    """Remove everything but the testbed's plan."""
    for path in folder.iterdir():
        if path.name != "plan.json":
            _remove(path, path.lstat())
