"""The cores of this machine: a run or worker holds those that its trials are pinned to."""

from __future__ import annotations

import platform
from contextlib import suppress
from dataclasses import dataclass

from filelock import FileLock, Timeout

from cambrian import paths
from cambrian.run.pool import cores


@dataclass(frozen=True)
class Held:
    """Cores that no other run or worker of this user has; the kernel releases them if this process dies."""

    cores: tuple[int, ...]
    _locks: tuple[FileLock, ...]

    def release(self) -> None:
        """Let others have them."""
        for lock in self._locks:
            lock.release()


def hold(count: int) -> Held:
    """Hold up to ``count`` free cores; fewer if others hold the rest."""
    folder = paths.cache() / "cores"
    folder.mkdir(parents=True, exist_ok=True)
    taken: list[int] = []
    locks: list[FileLock] = []
    for core in cores():
        if len(taken) == count:
            break
        lock = FileLock(folder / f"{platform.node()}-{core}.lock", thread_local=False)
        with suppress(Timeout):
            lock.acquire(timeout=0)
            taken.append(core)
            locks.append(lock)
    return Held(tuple(taken), tuple(locks))
