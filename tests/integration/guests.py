"""The guests of a run, as the machine sees them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def processes(out: Path) -> set[int]:
    """bubblewrap with this results folder in its command line, and all of its descendants.

    There may be guests of other runs on the machine. Without a wall, the guest itself names the folder.
    """
    children: dict[int, list[int]] = {}
    family = []
    for pid, parent, words in _all():
        children.setdefault(parent, []).append(pid)
        if (b"bwrap" in words or b"time-travel" in words) and bytes(out) in words:
            family.append(pid)
    found: set[int] = set()
    while family:
        pid = family.pop()
        if pid not in found:
            found.add(pid)
            family += children.get(pid, ())
    return found


def kernels(out: Path) -> list[int]:
    """The guests' kernels on the host: those of the processes that have a clock of their own."""
    return [
        pid
        for pid, _, words in _all()
        if words.startswith(b"/") and b"/linux\0" in words and pid in processes(out)
    ]


def programs(out: Path) -> list[int]:
    """The host processes of the guests' programs, the oldest first."""
    kernels_there = set(kernels(out))
    return sorted(pid for pid, parent, _ in _all() if parent in kernels_there)


def workers(run: int) -> list[int]:
    """The worker processes of a run."""
    return [pid for pid, parent, words in _all() if parent == run and b"spawn_main" in words]


def alive(pids: set[int]) -> set[int]:
    """Those that still run."""
    return {pid for pid, _, _ in _all() if pid in pids}


def _all() -> Iterator[tuple[int, int, bytes]]:
    """(pid, parent, command line) of every process that is no zombie."""
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            state, parent = (path / "stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z" and int(path.name) != os.getpid():
                yield int(path.name), int(parent), (path / "cmdline").read_bytes()


def kernels_of(run: int) -> list[int]:
    """The guests' kernels among the descendants of a process."""
    return [
        pid for pid, _, words in _all() if words.startswith(b"/cambrian/linux\0") and run in ancestors(pid)
    ]


def ancestors(pid: int) -> list[int]:
    """A process, its parent, and so on to the first process."""
    parents = {child: parent for child, parent, _ in _all()}
    found = [pid]
    while found[-1] in parents:
        found.append(parents[found[-1]])
    return found
