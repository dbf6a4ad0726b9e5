"""Starting, watching and ending the programs of a trial, each in its own namespace."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cambrian.testbed import addresses as at
from cambrian.testbed import cpu, roots, system, users

if TYPE_CHECKING:
    from cambrian.testbed.contract import ProgramPlan

#: how long a server may take until it is ready, in guest seconds
READY_TIMEOUT_S = 20.0
#: how long a program may take to end after SIGTERM, in guest seconds
STOP_TIMEOUT_S = 2.0
#: as long for the capture: in real time it may be behind, and what it has not yet read is the result
CAPTURE_TIMEOUT_S = 60.0
_POLL_S = 0.002
#: the event that says that a program is ready is among its first characters
_READY_CHARACTERS = 2**20


@dataclass
class Process:
    """One running program; ``status`` is as waitpid's, decoded (negative: a signal).

    ``stopped``: it still ran when :func:`stop` told it to end.
    """

    name: str
    pid: int
    pidfd: int
    stdout: Path
    started_ns: int
    status: int | None = None
    ended_ns: int | None = None
    stopped: bool = False

    def reap(self) -> bool:
        """Collect the exit status if the program has ended; True if it has."""
        if self.status is None:
            pid, raw = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(raw)
                self.ended_ns = time.time_ns()
                os.close(self.pidfd)
        return self.status is not None

    def signal(self, number: signal.Signals) -> bool:
        """Send a signal to the program and whatever it started, if it still runs; True if it does."""
        if runs := not self.reap():
            os.killpg(self.pid, number)
        return runs


def _enter(namespace: str | None) -> AbstractContextManager[None]:
    return nullcontext() if namespace is None else system.inside(at.namespace_path(namespace))


@dataclass(frozen=True)
class Prepared:
    """A program that only needs to be started, once; ``out`` and ``err`` are open files."""

    name: str
    spec: ProgramPlan
    namespace: str | None
    stdout: Path
    out: int
    err: int
    root: Path | None

    def start(self) -> Process:
        """Start it; what it draws at random depends on the seed and its name, not on what ran before."""
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, self.out, 1),
            (os.POSIX_SPAWN_DUP2, self.err, 2),
        ]
        argv = users.command(self.spec["argv"], self.spec.get("user"))
        os.chdir(self.spec["work"])
        with cpu.slow(self.spec.get("cpu")), _enter(self.namespace), system.rooted(self.root):
            system.restart_randomness(self.name)
            pid = os.posix_spawn(argv[0], argv, self.spec["environment"], file_actions=actions, setsid=True)
        os.chdir("/")
        os.close(self.out)
        os.close(self.err)
        return Process(self.name, pid, os.pidfd_open(pid), self.stdout, time.time_ns())


def prepare(name: str, spec: ProgramPlan, namespace: str | None, folder: Path) -> Prepared:
    """Prepare ``spec["argv"]``, to run in a namespace (None: the guest's first).

    Its output goes to ``folder/name.out`` and ``folder/name.err``, opened here: the program itself cannot
    open anything in ``folder``. ``spec["user"]`` is whom it runs as, ``spec["logs"]`` gives it a folder of
    the results (:mod:`cambrian.testbed.users`).
    ``spec["environment"]`` is the whole environment: nothing of the host's leaks in.
    ``spec["root"]``, where given, is the root folder it sees (:func:`cambrian.testbed.roots.make`),
    ``spec["cpu"]`` the costs of the slow CPU that it runs on (:func:`cambrian.testbed.cpu.slow`).
    ``spec["files"]`` (name → text) are written into the working folder ``spec["work"]`` first,
    ``spec["sparse"]`` (name → bytes) are files of zeros there; ``spec["folders"]`` are made too.
    """
    work, user = Path(spec["work"]), spec.get("user")
    work.mkdir(parents=True, exist_ok=True)
    if spec.get("logs"):
        users.give_logs(name, user)
    for file, text in spec.get("files", {}).items():
        (work / file).write_text(text)
    for made in spec.get("folders", ()):
        Path(made).mkdir(parents=True, exist_ok=True)
        users.open_to_all(Path(made))
    for file, size_bytes in spec.get("sparse", {}).items():
        with (work / file).open("wb") as hollow:
            hollow.truncate(size_bytes)
    stdout, stderr = folder / f"{name}.out", folder / f"{name}.err"
    write_flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
    out, err = os.open(stdout, write_flags, 0o644), os.open(stderr, write_flags, 0o644)
    root = roots.make(Path("/run/cambrian/roots") / name, spec["root"], user) if "root" in spec else None
    users.give(work, user)
    return Prepared(name, spec, namespace, stdout, out, err, root)


def _said_ready(stdout: Path) -> bool:
    with stdout.open(errors="replace") as lines:
        for line in lines.read(_READY_CHARACTERS).splitlines():
            try:
                if json.loads(line).get("event") == "ready":
                    return True
            except (ValueError, AttributeError, RecursionError):
                continue
    return False


def _bound(namespace: str | None, protocol: str, port: int) -> bool:
    """Is the port open in the namespace? Read from /proc/net, so no packet is sent."""
    with _enter(namespace):
        rows = [
            line.split()
            for table in (protocol, protocol + "6")
            if Path(f"/proc/thread-self/net/{table}").exists()
            for line in Path(f"/proc/thread-self/net/{table}").read_text().splitlines()[1:]
        ]
    listening = {"udp": {"07"}, "tcp": {"0A"}}[protocol]
    return any(int(row[1].rpartition(":")[2], 16) == port and row[3] in listening for row in rows)


def wait_ready(
    process: Process, spec: ProgramPlan, namespace: str | None, timeout_s: float = READY_TIMEOUT_S
) -> str | None:
    """Wait until a program is ready (a server: can be connected to); None, or why it is not."""
    deadline_s = time.monotonic() + timeout_s
    how = spec["ready"]
    while time.monotonic() < deadline_s:
        if process.reap():
            status = process.status or 0
            killed = f"was killed by signal {-status} ({signal.strsignal(-status)})" if status < 0 else ""
            return f"{process.name} {killed or f'ended with status {status}'} before it was ready"
        if how == "json" and _said_ready(process.stdout):
            return None
        if how in ("udp", "tcp") and _bound(namespace, how, spec.get("port", at.PORT)):
            return None
        time.sleep(_POLL_S)
    return f"{process.name} was not ready within {timeout_s:g} s (waited for: {how})"


def stop(processes: list[Process], timeout_s: float = STOP_TIMEOUT_S) -> list[str]:
    """SIGTERM, then SIGKILL to whatever has not ended in time; returns those names."""
    for process in processes:
        process.stopped = process.signal(signal.SIGTERM)
    stubborn = _still_running(processes, timeout_s)
    for process in stubborn:
        process.signal(signal.SIGKILL)
    while _still_running(stubborn, timeout_s):
        pass
    return [process.name for process in stubborn]


def _still_running(processes: list[Process], timeout_s: float) -> list[Process]:
    """Wait until all have ended; those that have not in time."""
    deadline_s = time.monotonic() + timeout_s
    while running := [process for process in processes if not process.reap()]:
        left_s = deadline_s - time.monotonic()
        if left_s <= 0:
            break
        ended, _, _ = select.select([process.pidfd for process in running], [], [], left_s)
        if ended and not any(process.reap() for process in running):
            # another process traces it and is told first; clock reads alone move no time here
            time.sleep(_POLL_S)
    return running
