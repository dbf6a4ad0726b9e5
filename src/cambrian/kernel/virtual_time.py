"""A running guest's clock, read from outside, so that nothing in the guest takes part in it."""

from __future__ import annotations

import mmap
from functools import lru_cache
from pathlib import Path

#: what patch 0006 puts in front of the address at which the kernel keeps its time
_MARKER = b"cambrian.virtual_time".ljust(24, b"\0")
_WORD_BYTES = 8


@lru_cache
def address(binary: Path) -> int | None:
    """Where a kernel keeps its time, in its own address space; None for one without patch 0006."""
    with binary.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        found = content.find(_MARKER)
        if found < 0:
            return None
        start = found + len(_MARKER)
        return int.from_bytes(content[start : start + _WORD_BYTES], "little")


def read_ns(pid: int, where: int) -> int | None:
    """Nanoseconds since boot on the clock of the guest whose kernel is process ``pid``.

    None where that cannot be read: before the kernel has started, after it has ended, or where the host
    forbids it (Yama's ptrace_scope 2 and 3). 0 for a guest that runs in real time.
    """
    try:
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            memory.seek(where)
            word = memory.read(_WORD_BYTES)
    except (OSError, ValueError):
        return None
    return int.from_bytes(word, "little") if word and len(word) == _WORD_BYTES else None
