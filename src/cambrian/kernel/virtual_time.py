"""Reads a running guest's clock from outside, without any effect on the guest."""

from __future__ import annotations

import mmap
from functools import lru_cache
from pathlib import Path

#: patch 0006 writes this marker before the address of the kernel's time
_MARKER = b"cambrian.virtual_time".ljust(24, b"\0")
_WORD_BYTES = 8


@lru_cache
def address(binary: Path) -> int | None:
    """Address of a kernel's time in its own address space; None for a kernel without patch 0006."""
    with binary.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        found = content.find(_MARKER)
        if found < 0:
            return None
        start = found + len(_MARKER)
        return int.from_bytes(content[start : start + _WORD_BYTES], "little")


def read_ns(pid: int, where: int) -> int | None:
    """Nanoseconds since boot on the clock of the guest whose kernel is process ``pid``.

    None if it cannot be read: before the kernel has started, after it has ended, or if the host
    forbids it (Yama's ptrace_scope 2 and 3). 0 for a guest that runs in real time.
    """
    try:
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            memory.seek(where)
            word = memory.read(_WORD_BYTES)
    except (OSError, ValueError):
        return None
    return int.from_bytes(word, "little") if word and len(word) == _WORD_BYTES else None
