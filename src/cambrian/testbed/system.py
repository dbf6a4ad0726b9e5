"""The few Linux calls that Python's standard library lacks, by ctypes."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNET = 0x4000_0000
MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_BIND = 0x1000
MS_REC = 0x4000
_POWER_OFF = 0x4321_FEDC
_CLOCK_REALTIME, _TIMER_ABSTIME = 0, 1
_PR_SET_TIMERSLACK = 29
#: knobs of Cambrian's kernel; other kernels lack them
_FREE_CLOCK_READS = Path("/proc/sys/kernel/free_clock_reads")
_RESTART_RANDOMNESS = Path("/proc/sys/kernel/random/restart")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str, flags: int = 0, data: str | None = None) -> None:
    """mount(2); makes the target directory where it is missing."""
    Path(target).mkdir(parents=True, exist_ok=True)
    arguments = [text.encode() if text is not None else None for text in (source, target, kind)]
    _check(_libc.mount(*arguments, flags, data.encode() if data else None), f"mount {kind} on {target}")


def bind_file(source: str, target: str, *, create: bool = True) -> None:
    """Bind-mount one file over another, which is created unless it must be there."""
    if create:
        Path(target).touch()
    _check(_libc.mount(source.encode(), target.encode(), b"none", MS_BIND, None), f"bind {target}")


@contextmanager
def inside(namespace_path: str) -> Iterator[None]:
    """Run the body in another network namespace, then return to this one."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(namespace_path, os.O_RDONLY)
    try:
        _check(_libc.setns(there, CLONE_NEWNET), f"enter {namespace_path}")
        try:
            yield
        finally:
            _check(_libc.setns(home, CLONE_NEWNET), "return to the first namespace")
    finally:
        os.close(home)
        os.close(there)


@contextmanager
def new_namespace(path: str) -> Iterator[None]:
    """Make a network namespace, mount it at ``path`` and run the body in it."""
    with inside("/proc/self/ns/net"):
        _check(_libc.unshare(CLONE_NEWNET), "make a network namespace")
        bind_file("/proc/self/ns/net", path)
        yield


@contextmanager
def rooted(folder: Path | None) -> Iterator[None]:
    """Run the body with another folder as this process's root (None: as it is), then return."""
    if folder is None:
        yield
        return
    home = os.open("/", os.O_RDONLY)
    work = Path.cwd()
    try:
        os.chroot(folder)
        os.chdir(work)
        try:
            yield
        finally:
            os.fchdir(home)
            os.chroot(".")
    finally:
        os.close(home)


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def sleep_until(realtime_ns: int) -> None:
    """Sleep until a time of the guest's clock, to the tick.

    ``time.sleep`` takes a length in floating point, whose rounding can move the end by a tick. The kernel may
    end a sleep 50 µs late, to serve another timer with it; programs would inherit another setting.
    """
    until = _Timespec(realtime_ns // 1_000_000_000, realtime_ns % 1_000_000_000)
    _check(_libc.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0), "sleep exactly")
    _libc.clock_nanosleep(_CLOCK_REALTIME, _TIMER_ABSTIME, ctypes.byref(until), None)
    # 0: as at the start of this process
    _check(_libc.prctl(_PR_SET_TIMERSLACK, 0, 0, 0, 0), "sleep as usual")


def free_clock_reads() -> None:
    """From now on this process's clock reads move no time.

    How often Python reads the clock depends on its version. Programs that this process starts are as usual.
    """
    if _FREE_CLOCK_READS.exists():
        _FREE_CLOCK_READS.write_text("1")


def restart_randomness(label: str) -> None:
    """The randomness of the kernel and of this process, from now on: a function of the seed and ``label``.

    Each process that starts after this has a stream of its own, drawn from this process's.
    """
    if _RESTART_RANDOMNESS.exists():
        _RESTART_RANDOMNESS.write_text(label)


def power_off() -> None:
    """Write back what is dirty and end the guest. Does not return."""
    os.sync()
    _libc.reboot(_POWER_OFF)


def write(path: str, text: str) -> None:
    """Write a kernel knob (sysctl, tracefs)."""
    Path(path).write_text(text)
