"""Slow CPUs: the work of a program takes time, and delays only that program.

The kernel (``kernel/patches``, "programs on a slow processor of their own") takes the costs for
the processes that a thread starts next, and charges them from their first system call on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cambrian.testbed.contract import CpuPlan

#: writing it sets the costs of this thread's children; reading it gives the thread's own costs
_KNOB = Path("/proc/thread-self/slow_cpu")


@contextmanager
def slow(costs: CpuPlan | None) -> Iterator[None]:
    """Processes started in the body share one slow CPU (None: no slow CPU).

    ``costs`` has ``per_syscall_ns`` and ``per_packet_ns``, whole nanoseconds.

    Raises:
        RuntimeError: this kernel was built without slow CPUs.
    """
    if costs is None:
        yield
        return
    if not _KNOB.exists():
        raise RuntimeError(
            "receiver_cpu: this kernel has no slow CPUs; remedy: let cambrian build its own "
            "(unset CAMBRIAN_KERNEL), or apply every patch in kernel/patches"
        )
    _KNOB.write_text(f"{costs['per_syscall_ns']} {costs['per_packet_ns']}\n")
    try:
        yield
    finally:
        _KNOB.write_text("0 0\n")
