"""All checks, in the order of a set-up."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Mapping

from cambrian import paths
from cambrian.command import MissingTool
from cambrian.doctor import machine
from cambrian.doctor.check import Check
from cambrian.kernel import host, locate
from cambrian.kernel.model import Kernel, KernelError
from cambrian.pages import browser
from cambrian.stacks import build, catalogue
from cambrian.trial import host_clock, wall
from cambrian.trial.wall import Wall

BUILD_KERNEL = "cambrian kernel build"


def run_checks() -> list[Check]:
    """Run all checks; takes about a second, changes nothing and uses no network."""
    kernel, kernel_check = check_kernel()
    return [
        check_platform(platform.system(), platform.machine()),
        check_python(sys.version_info[:2]),
        check_packages(),
        machine.check_disk(paths.cache()),
        machine.check_memory(machine.available_memory_bytes(), machine.cores()),
        machine.check_guest_memory_folder(wall.find()),
        kernel_check,
        *([check_permission(kernel)] if kernel else []),
        *check_stacks(),
        check_wall(wall.find()),
        check_host_clock(host_clock.problems()),
        check_browser(),
    ]


def check_platform(system: str, processor: str) -> Check:
    """User-mode Linux with time travel needs x86-64 Linux."""
    found = f"{system} {processor}"
    if (system, processor) == ("Linux", "x86_64"):
        return Check("platform", "ok", found)
    return Check("platform", "missing", found, "use an x86-64 Linux machine")


def check_python(version: tuple[int, int]) -> Check:
    """Cambrian needs Python >= 3.11."""
    found = f"{version[0]}.{version[1]} ({sys.prefix})"
    if version >= (3, 11):
        return Check("python", "ok", found)
    return Check(
        "python",
        "missing",
        found,
        "install Cambrian with Python 3.11 or later",
    )


def check_packages() -> Check:
    """The Debian packages that trials and builds need, by ``scripts/debian-packages``."""
    script = paths.data() / "scripts" / "debian-packages"
    argv = ["bash", str(script), "missing", "run"]
    try:
        answer = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return Check("Debian packages", "warn", f"unknown: {error}", " ".join(argv))
    missing = answer.stdout.split()
    if missing:
        names = " ".join(missing)
        return Check("Debian packages", "missing", f"missing: {names}", f"apt-get install -y {names}")
    return Check("Debian packages", "ok", "all installed")


def check_kernel() -> tuple[Kernel | None, Check]:
    """The virtual-time kernel for this version's fragment and patches."""
    try:
        kernel = locate.find()
    except KernelError as error:
        return None, Check("kernel", "missing", str(error), BUILD_KERNEL)
    if kernel is None:
        old = locate.stale()
        if old:
            found = f"{len(old)} built, none from this version's fragment and patches"
            return None, Check("kernel", "stale", found, BUILD_KERNEL)
        return None, Check("kernel", "missing", "not built", BUILD_KERNEL)
    found = f"Linux {kernel.version}, {kernel.path}"
    absent = [name for name, have in vars(kernel.features).items() if not have]
    if absent:
        without = f"{found}; without {', '.join(absent)}"
        return kernel, Check("kernel", "warn", without, f"unset CAMBRIAN_KERNEL && {BUILD_KERNEL}")
    return kernel, Check("kernel", "ok", found)


def check_permission(kernel: Kernel) -> Check:
    """Whether a guest can run programs on this machine, by seccomp or by ptrace."""
    name = "guest programs"
    fast = host.seccomp(kernel)
    if fast.works:
        return Check(name, "ok", "by seccomp")
    slow = host.ptrace(kernel)
    allow = "podman/docker run --security-opt seccomp=unconfined --cap-add SYS_PTRACE …, or no container"
    if slow.works:
        return Check(name, "warn", f"by ptrace, 2 to 4 times slower than seccomp: {fast.said}", allow)
    scope = machine.yama_ptrace_scope()
    if scope is not None and scope > 1:
        allow = "sysctl kernel.yama.ptrace_scope=1"
    return Check(name, "missing", f"neither seccomp ({fast.said}) nor ptrace ({slow.said})", allow)


def check_wall(found: Wall) -> Check:
    """bubblewrap: without it, guests can read and write what the user can."""
    if found.program is None:
        return Check("wall around guests", "warn", f"none: {found.why}", wall.REMEDY)
    return Check("wall around guests", "ok", f"bubblewrap, {found.program}")


def check_host_clock(lacks: Mapping[str, str]) -> Check:
    """Whether trials can run on this host's own kernel; only ``--clock host`` needs it."""
    name = "--clock host"
    if not lacks:
        return Check(name, "ok", "namespaces, veth, netem, tbf and packet sockets work")
    first, why = next(iter(lacks.items()))
    reason, _, remedy = why.partition("; remedy: ")
    found = f"no {', '.join(lacks)} ({first}: {reason}); only --clock host needs it"
    return Check(name, "warn", found, remedy)


def check_browser() -> Check:
    """Chromium; only page loads need it."""
    try:
        found = browser.find()
    except MissingTool as missing:
        return Check("Chromium", "warn", f"{missing.what}; only page loads need it", missing.remedy)
    return Check("Chromium", "ok", f"{found.version}, {found.path}")


def check_stacks() -> list[Check]:
    """One check for each stack: whether it is built from this source with the installed compiler."""
    known = catalogue.load()
    broken = [Check(f"stack {one.name}", "missing", one.error, one.remedy) for one in known.broken.values()]
    return [_check_stack(stack) for stack in known.values()] + broken


def _check_stack(stack: catalogue.Stack) -> Check:
    name = f"stack {stack.name}"
    status = build.status(stack)
    if status.state == "built":
        return Check(name, "ok", status.detail)
    # the hashes behind the name: another stack's name may begin with this one's
    other_builds = (paths.cache() / "stacks").glob(f"{stack.name}-{'?' * 12}-{'?' * 8}/build.json")
    if status.state == "missing" and any(other_builds):
        return Check(name, "stale", f"built from other sources; {status.detail}", status.remedy or "")
    return Check(name, "missing", status.detail, status.remedy or "")
