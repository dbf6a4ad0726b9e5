"""Boots one guest behind its wall, watches it from outside, and ends it if it exceeds its limits."""

from __future__ import annotations

import errno
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from cambrian.kernel import boot, virtual_time
from cambrian.kernel.model import Kernel
from cambrian.study.model import Clock
from cambrian.testbed.contract import FlowPlan, GuestReport, Plan
from cambrian.trial import guest_packages, limits, remains, wall
from cambrian.trial.limits import Limits
from cambrian.trial.wall import Wall

#: the guest's first program, in the folder of its code
AGENT = Path("cambrian/testbed/guest.py")
#: the same on the host's own kernel, at its place there
HOST_AGENT = Path("/run/cambrian/source/cambrian/testbed/host.py")
#: memory of a guest without a browser
MEMORY_MB = 768
#: host signals that end a guest from outside: a person, a batch system, or the kernel for lack of memory
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU)
#: what the guest's kernel says when the host process of a program of the guest is gone
#: (arch/um/os-Linux/skas/process.c: wait_stub_done, wait_stub_done_seccomp)
_LOST = b"failed to wait for"
#: it is looked for in so much of the console
_CONSOLE_BYTES = 2**20
#: a disk with less space than this is full
_FULL_BYTES = 16 * 2**20
#: how long bubblewrap may take to start the guest
_START_S = 30.0
#: interval at which a guest is checked
_LOOK_S = 1.0
#: User-mode Linux finds the top of its address space from the environment's strings, and first moves
#: PATH elsewhere: with PATH as the only variable it finds a wrong address and no guest can start
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}


class GuestError(RuntimeError):
    """A guest cannot be booted; the text says why."""


class Disturbed(RuntimeError):
    """The host ended or starved the guest: no result of the trial, which must run again."""


@dataclass(frozen=True)
class Ended:
    """How a guest ended.

    ``report``: None if there is none. ``cut_off``: the reason if it was killed. ``removed``: what the guest
    left that was not read (:func:`cambrian.trial.remains.clean`). ``unread``: logs of the wrong kind
    (:func:`cambrian.trial.remains.gather`).
    """

    report: GuestReport | None
    cut_off: str | None
    wall_s: float
    cpu_s: float
    console: str
    removed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def interpreter() -> Path:
    """The Python that runs inside the guest: this one, outside of its virtual environment."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def run(
    kernel: Kernel,
    plan: Plan,
    out: Path,
    *,
    seed: int,
    clock: Clock,
    allowed: Limits,
    core: int | None,
    seccomp: bool = True,
    around: Wall,
    shown: Sequence[Path] = (),
) -> Ended:
    """Boot ``kernel`` behind the wall ``around`` to carry out ``plan``; the guest writes to ``out``.

    ``shown``: files and folders of the host that the guest must see at their own paths, besides the plan's.

    A guest that exceeds ``allowed`` is killed, and ``cut_off`` says why. ``core`` pins the guest. Ctrl-C
    ends the guest too. With the clock ``host`` there is no guest: the agent runs in namespaces of the host's
    own kernel, behind the same kind of wall and under the same watch.

    Raises:
        GuestError: a path contains a character that the guest's command line cannot have.
        Disturbed: the host killed the guest.
        PermissionError: a folder is closed to root inside the wall.
        OSError: the disk of ``out`` is full.
    """
    began = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    scratch = Path(tempfile.mkdtemp(prefix="cambrian-"))
    try:
        on_host = clock == "host"
        seen = (
            _View.of_host(kernel, plan, out, scratch, around, shown)
            if on_host
            else _View.of(kernel, plan, out, scratch, around, shown)
        )
        if around.program is not None:
            wall.check_open([out, *seen.readable.values()])
        (out / "plan.json").write_text(json.dumps(seen.plan(plan), indent=1))
        remains.prepare(out, plan)
        argv = (
            host_agent()
            if on_host
            else _command(kernel, plan, seen, seed=seed, clock=clock, core=core, seccomp=seccomp)
        )
        account = limits.Account(allowed, plan["duration_ns"] / 1e9)
        with (scratch / "console").open("wb") as console:
            guest = _Guest(argv, seen, scratch, console.fileno())
            try:
                cut_off = _watch(guest, account, out, scratch, kernel if clock == "virtual" else None)
            finally:
                guest.kill()
        text = (scratch / "console").read_text(errors="replace")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # RUSAGE_CHILDREN lacks the CPU time of the programs of a guest that was killed
    waited_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    cpu_s = max(waited_s, account.used_s)
    removed = remains.clean(out)
    unread = remains.gather(out)
    report = _report(out)
    if cut_off is None and report is None and guest.ended_from_outside:
        raise Disturbed(
            f"the guest was killed by {guest.ended_from_outside} from outside (by a person, a batch system, "
            "or the kernel for lack of memory)"
        )
    if shutil.disk_usage(out).free < _FULL_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(out.parents[2]))
    said = _without_noise(text)
    last = said.rpartition("\n")[2]
    if cut_off is None and report is None and last.startswith("bwrap: "):
        raise Disturbed(f"the wall could not be made: {last}")
    if cut_off is None and report is None and not said:
        # its kernel says why it ends, except if the host process of its first program is killed
        raise Disturbed("the guest ended without a report and without a message, as it does if it is killed")
    return Ended(report, cut_off, time.monotonic() - began, cpu_s, said, removed, unread)


@dataclass(frozen=True)
class _View:
    """The guest's paths: ``readable`` is path inside → path of the host; without a wall they are the same."""

    around: Wall
    readable: Mapping[Path, Path]
    init: Path
    kernel: Path
    source: Path
    packages: Path
    out: Path
    host_out: Path
    scratch: Path
    mounts: Mapping[str, str]
    on_host: bool = False

    @classmethod
    def of_host(
        cls, kernel: Kernel, plan: Plan, out: Path, scratch: Path, around: Wall, shown: Sequence[Path]
    ) -> _View:
        """What the agent of this plan must see on the host's own kernel: everything at its final place."""
        readable = host_folders() | {path: path for path in wall.not_of_the_system(shown)}
        readable |= {Path(place): Path(folder) for place, folder in plan["mounts"].items()}
        packages = guest_packages.ensure()
        own = interpreter()
        source = guest_packages.testbed()
        return cls(
            around, readable, own, kernel.path, source, packages, wall.HOST_OUT, out, Path("/tmp"), {}, True
        )

    def command(self, argv: Sequence[str], status: int) -> list[str]:
        """``argv`` behind the wall."""
        make = wall.host_command if self.on_host else wall.command
        return make(self.around, argv, readable=self.readable, out=self.host_out, status=status)

    @classmethod
    def of(
        cls, kernel: Kernel, plan: Plan, out: Path, scratch: Path, around: Wall, shown: Sequence[Path]
    ) -> _View:
        """What the guest of this plan must see."""
        source, packages = guest_packages.testbed(), guest_packages.ensure()
        if around.program is None:
            own = kernel.path.absolute()
            mounts = _folders(plan["mounts"])
            return cls(around, {}, interpreter(), own, source, packages, out, out, scratch, mounts)
        mounts = {place: str(wall.HOME) + place for place in plan["mounts"]}
        readable = {
            wall.KERNEL: kernel.path.absolute(),
            wall.HOME / "source": source,
            wall.HOME / "site-packages": packages,
        }
        readable |= {
            wall.place(path): path for path in wall.not_of_the_system([*wall.interpreter_folders(), *shown])
        }
        # of a folder with the same place in the guest, below /tmp say, only what ``shown`` names is there
        readable |= {
            Path(mounts[place]): Path(folder) for place, folder in plan["mounts"].items() if place != folder
        }
        return cls(
            around,
            readable,
            interpreter(),
            wall.KERNEL,
            wall.HOME / "source",
            wall.HOME / "site-packages",
            wall.OUT,
            out,
            Path("/tmp"),
            _folders(plan["mounts"], mounts),
        )

    def plan(self, plan: Plan) -> Plan:
        """The plan with the guest's own paths."""
        mine: Plan = {**plan, "mounts": dict(self.mounts)}
        if self.on_host:
            mine["flows"] = [_by_root(flow, wall.UNPRIVILEGED) for flow in plan["flows"]]
        elif self.around.program is None:
            # the folders on the way to a program may be closed to other users of the host
            mine["flows"] = [_by_root(flow) for flow in plan["flows"]]
        return mine


def _folders(wanted: Mapping[str, str], inside: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a guest mounts, which is folders only: in place of a file, the folder that it is in.

    ``inside``: place in the guest → path inside the wall, where a file is alone in its folder.
    """
    found = {}
    for place, path in wanted.items():
        pair = Path(place), Path((inside or wanted)[place])
        target, source = (one.parent for one in pair) if Path(path).is_file() else pair
        found[str(target)] = str(source)
    return found


def host_agent(*arguments: str) -> list[str]:
    """The command line of the agent on the host's own kernel.

    A guest has one core. Here the programs have all of them, also if this process is a pinned worker.
    """
    every_core = ["taskset", "--cpu-list", f"0-{(os.cpu_count() or 1) - 1}"]
    return [*every_core, str(interpreter()), "-I", "-S", str(HOST_AGENT), *arguments]


def host_folders() -> dict[Path, Path]:
    """What the agent on the host's own kernel needs: place → folder of the host."""
    folders = {
        Path("/run/cambrian/source"): guest_packages.testbed(),
        Path("/run/cambrian/site-packages"): guest_packages.ensure(),
    }
    return folders | {path: path for path in wall.not_of_the_system(wall.interpreter_folders())}


def _by_root(flow: FlowPlan, through: Sequence[str] = ()) -> FlowPlan:
    """The flow's programs, to run as the agent's own user, each started by ``through``."""
    mine = flow.copy()
    for side in ("sender", "receiver"):
        program = flow[side].copy()
        program.pop("user", None)
        program["argv"] = [*through, *program["argv"]]
        mine[side] = program
    return mine


class _Guest:
    """A running guest. ``pid`` is its kernel's process, on the host."""

    def __init__(self, argv: list[str], seen: _View, scratch: Path, console: int) -> None:
        self._process, self.pid = (
            _start(argv, scratch, console)
            if seen.around.program is None
            else _start_behind(argv, seen, scratch, console)
        )
        self._ended = os.pidfd_open(self._process.pid)
        self._kernel = None
        with suppress(OSError):
            self._kernel = os.pidfd_open(self.pid)

    def wait(self, timeout_s: float) -> bool:
        """Has the guest ended by itself within this time?"""
        # Popen.wait(timeout=…) looks every 50 ms only
        select.select([self._ended], [], [], timeout_s)
        return self._process.poll() is not None

    @property
    def ended_from_outside(self) -> str:
        """The signal of another process that ended the guest; empty if there is none."""
        # bubblewrap passes on the status of its child as a shell does
        status = self._process.returncode
        number = -status if status < 0 else status - 128
        return signal.Signals(number).name if number in tuple(map(int, _FROM_OUTSIDE)) else ""

    def kill(self) -> None:
        """Kill the guest with its programs, and wait until none is left."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._ended)
        if self._kernel is not None:
            # the first process of its namespace: the kernel ends all others before this one has ended
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._kernel, signal.SIGKILL)
            select.select([self._kernel], [], [])
            os.close(self._kernel)
            self._kernel = None


def _start(argv: list[str], scratch: Path, console: int) -> tuple[subprocess.Popen[bytes], int]:
    """Start a guest without a wall."""
    process = subprocess.Popen(
        # a guest must not outlive this process, even if it is killed
        ["setpriv", "--pdeathsig", "KILL", *argv],
        stdin=subprocess.DEVNULL,
        stdout=console,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd=scratch,
        env=_ENVIRONMENT | {name: os.environ[name] for name in boot.MEMORY_VARIABLES if name in os.environ},
    )
    return process, process.pid


def _start_behind(
    argv: list[str], seen: _View, scratch: Path, console: int
) -> tuple[subprocess.Popen[bytes], int]:
    """Start a guest behind the wall; bubblewrap ends it with this process."""
    read, write = os.pipe()
    try:
        process = subprocess.Popen(
            seen.command(argv, write),
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=scratch,
            env=_ENVIRONMENT,
            pass_fds=(write,),
        )
        os.close(write)
        write = -1
        line = b""
        while select.select([read], [], [], _START_S)[0] and (part := os.read(read, 4096)):
            line += part
            if b"\n" in line:
                break
    finally:
        os.close(read)
        if write >= 0:
            os.close(write)
    return process, wall.child(line.partition(b"\n")[0]) or process.pid


def _command(
    kernel: Kernel, plan: Plan, seen: _View, *, seed: int, clock: Clock, core: int | None, seccomp: bool
) -> list[str]:
    try:
        return boot.command(
            replace(kernel, path=seen.kernel),
            init=seen.init,
            arguments=["-I", "-S", str(seen.source / AGENT)],
            run_directory=seen.scratch,
            memory_mb=plan["memory_mb"],
            seed=seed,
            clock=clock,
            core=core,
            seccomp=seccomp,
            settings=plan["kernel_settings"],
            environment={
                "PYTHONHASHSEED": "0",
                "CAMBRIAN_SOURCE": str(seen.source),
                "CAMBRIAN_SITE_PACKAGES": str(seen.packages),
                "CAMBRIAN_OUT": str(seen.out),
            },
        )
    except ValueError as error:
        raise GuestError(
            f"{error}; remedy: use a results folder and a cache without such characters"
        ) from error


def _watch(
    guest: _Guest, account: limits.Account, out: Path, scratch: Path, virtual: Kernel | None
) -> str | None:
    """Wait for a guest's end; returns the reason to kill it, or None if it ended by itself.

    ``virtual``: the kernel of a guest in virtual time; its clock can be read.

    Raises:
        Disturbed: the host killed a process of the guest.
    """
    where = virtual_time.address(virtual.path) if virtual else None
    while True:
        ended = guest.wait(_LOOK_S)
        with (scratch / "console").open("rb") as console:
            if _LOST in console.read(_CONSOLE_BYTES):
                # the guest goes on without one of its programs, or waits for it for ever
                raise Disturbed(
                    "a process of the guest was killed from outside (by a person, or the kernel for lack of "
                    "memory)"
                )
        if ended:
            return None
        reached_ns = None if where is None else virtual_time.read_ns(guest.pid, where)
        reached_s = None if reached_ns is None else reached_ns / 1e9
        if reason := account.look(limits.cpu_s(guest.pid), reached_s, _LOOK_S):
            return reason
        if reason := account.disk(remains.size_bytes(out)):
            return reason


def _report(out: Path) -> GuestReport | None:
    try:
        report: GuestReport = json.loads((out / "guest.json").read_text())
    except (OSError, ValueError, RecursionError):
        return None
    return report


def _without_noise(console: str) -> str:
    """The console without the kernel's messages about consoles that it does not have."""
    noise = ("Using a channel type", "setup_one_line failed", "reboot: Power down")
    return "\n".join(line for line in console.splitlines() if not line.startswith(noise))
