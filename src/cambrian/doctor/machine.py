"""Checks of the machine: disk, memory, cores, and the folder for guests' memory."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from cambrian.doctor.check import Check, State
from cambrian.kernel import boot
from cambrian.trial.boot import MEMORY_MB
from cambrian.trial.wall import Wall

#: disk space of a first set-up: source package, kernel tree, stacks, toolchains
DISK_BYTES = 6 * 10**9
#: default memory of a guest, in bytes
GUEST_BYTES = MEMORY_MB * 2**20


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def available_memory_bytes() -> int:
    """MemAvailable of /proc/meminfo; 0 if the kernel does not give it."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def check_memory(available_bytes: int, core_count: int) -> Check:
    """Memory must hold one guest per core."""
    found = f"{core_count} cores, {available_bytes / 2**30:.1f} GiB of memory free"
    fitting = available_bytes // GUEST_BYTES
    if fitting >= core_count:
        return Check("processors and memory", "ok", found)
    state: State = "warn" if fitting else "missing"
    remedy = f"cambrian run --jobs {max(fitting, 1)} …"
    return Check("processors and memory", state, f"{found}: room for {fitting} guests", remedy)


def check_disk(cache: Path) -> Check:
    """Free disk space for the cache."""
    existing = next(folder for folder in (cache, *cache.parents) if folder.is_dir())
    free = shutil.disk_usage(existing).free
    found = f"{free / 1e9:.0f} GB free at {cache}"
    if not os.access(existing, os.W_OK):
        return Check("disk", "missing", f"{existing} is not writable", "export CAMBRIAN_CACHE=/path/that/is")
    if free < DISK_BYTES:
        remedy = "export CAMBRIAN_CACHE=/path/with/room"
        return Check("disk", "warn", f"{found}; a first set-up needs {DISK_BYTES / 1e9:.0f} GB", remedy)
    return Check("disk", "ok", found)


def check_guest_memory_folder(around: Wall) -> Check:
    """A guest's memory is a file; its folder must have enough space and must not be mounted noexec.

    Behind a wall each guest has a folder of its own for it (``/dev/shm`` of bubblewrap).
    """
    if around.program is not None:
        return Check("guest memory", "ok", "each guest has its own /dev/shm, made by its wall")
    return judge_guest_memory_folder(guest_memory_folder())


def judge_guest_memory_folder(folder: Path) -> Check:
    """The check of :func:`check_guest_memory_folder` for one folder."""
    name = "guest memory"
    elsewhere = "export TMPDIR=/path/on/a/tmpfs/mounted/exec"
    try:
        facts = os.statvfs(folder)
    except OSError as error:
        return Check(name, "missing", f"{folder}: {error.strerror}", elsewhere)
    free = facts.f_bavail * facts.f_frsize
    found = f"{free / 2**30:.1f} GiB free in {folder}"
    if facts.f_flag & os.ST_NOEXEC:
        return Check(name, "missing", f"{folder} is mounted noexec", f"mount -o remount,exec {folder}")
    if not os.access(folder, os.W_OK):
        return Check(name, "missing", f"{folder} is not writable", elsewhere)
    if free < GUEST_BYTES:
        return Check(name, "missing", f"{found}, too little for one guest", elsewhere)
    if free < GUEST_BYTES * cores():
        return Check(name, "warn", f"{found}, too little for a guest on each of {cores()} cores", elsewhere)
    return Check(name, "ok", found)


def guest_memory_folder() -> Path:
    """The folder that User-mode Linux will choose (arch/um/os-Linux/mem.c, choose_tempdir)."""
    for variable in boot.MEMORY_VARIABLES:
        if os.environ.get(variable):
            return Path(os.environ[variable])
    shared = Path("/dev/shm")
    return shared if shared.is_dir() else Path("/tmp")


def yama_ptrace_scope() -> int | None:
    """kernel.yama.ptrace_scope, or None without Yama."""
    try:
        return int(Path("/proc/sys/kernel/yama/ptrace_scope").read_text())
    except (OSError, ValueError):
        return None
