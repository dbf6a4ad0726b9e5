"""Boots one guest, watches it from outside, and ends it if it uses too much CPU time."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cambrian.kernel import boot, virtual_time
from cambrian.kernel.model import Kernel
from cambrian.study.model import Clock
from cambrian.testbed.contract import GuestReport, Plan
from cambrian.trial import guest_packages, limits
from cambrian.trial.limits import Limits

AGENT = Path(__file__).resolve().parents[1] / "testbed" / "guest.py"
SOURCE = AGENT.parents[2]
#: memory of a guest without a browser
MEMORY_MB = 768
#: interval at which a guest is checked
_LOOK_S = 1.0
#: User-mode Linux finds the top of its address space from the environment's strings, and first moves
#: PATH elsewhere: with PATH as the only variable it finds a wrong address and no guest can start
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}


class GuestError(RuntimeError):
    """A guest cannot be booted; the text says why."""


@dataclass(frozen=True)
class Ended:
    """How a guest ended: its report (None if there is none), the reason if it was killed, its times."""

    report: GuestReport | None
    cut_off: str | None
    wall_s: float
    cpu_s: float
    console: str


def interpreter() -> Path:
    """The Python that runs inside the guest: this one, outside of its virtual environment."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the guest with its programs, which are host processes in its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _command(
    kernel: Kernel,
    plan: Plan,
    out: Path,
    scratch: Path,
    *,
    seed: int,
    clock: Clock,
    core: int | None,
    seccomp: bool,
) -> list[str]:
    try:
        return boot.command(
            kernel,
            init=interpreter(),
            arguments=["-I", "-S", str(AGENT)],
            run_directory=scratch,
            memory_mb=plan["memory_mb"],
            seed=seed,
            clock=clock,
            core=core,
            seccomp=seccomp,
            settings=plan["kernel_settings"],
            environment={
                "PYTHONHASHSEED": "0",
                "CAMBRIAN_SOURCE": str(SOURCE),
                "CAMBRIAN_SITE_PACKAGES": str(guest_packages.ensure()),
                "CAMBRIAN_OUT": str(out),
            },
        )
    except ValueError as error:
        raise GuestError(
            f"{error}; remedy: use a results folder, checkout and cache without such characters"
        ) from error


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
) -> Ended:
    """Boot ``kernel`` to carry out ``plan``; the guest writes to ``out``.

    A guest that exceeds ``allowed`` is killed, and ``cut_off`` says why. ``core`` pins the guest. Ctrl-C
    ends the guest too.

    Raises:
        GuestError: a path contains a character that the guest's command line cannot have.
    """
    began = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    scratch = Path(tempfile.mkdtemp(prefix="cambrian-"))
    try:
        (out / "plan.json").write_text(json.dumps(plan, indent=1))
        argv = _command(kernel, plan, out, scratch, seed=seed, clock=clock, core=core, seccomp=seccomp)
        account = limits.Account(allowed, plan["duration_ns"] / 1e9)
        with (scratch / "console").open("wb") as console:
            process = subprocess.Popen(
                # a guest must not outlive this process, even if it is killed
                ["setpriv", "--pdeathsig", "KILL", *argv],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd=scratch,
                env=_ENVIRONMENT
                | {name: os.environ[name] for name in boot.MEMORY_VARIABLES if name in os.environ},
            )
            try:
                cut_off = _watch(process, account, None if clock == "real" else kernel)
            finally:
                _kill(process)
        text = (scratch / "console").read_text(errors="replace")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # RUSAGE_CHILDREN lacks the CPU time of the programs of a guest that was killed
    waited_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    cpu_s = max(waited_s, account.used_s)
    return Ended(_report(out), cut_off, time.monotonic() - began, cpu_s, _without_noise(text))


def _watch(process: subprocess.Popen[bytes], account: limits.Account, virtual: Kernel | None) -> str | None:
    """Wait for a guest's end; returns the reason to kill it, or None if it ended by itself.

    ``virtual``: the kernel of a guest in virtual time; its clock can be read.
    """
    where = virtual_time.address(virtual.path) if virtual else None
    while True:
        try:
            process.wait(timeout=_LOOK_S)
        except subprocess.TimeoutExpired:
            reached_ns = None if where is None else virtual_time.read_ns(process.pid, where)
            reached_s = None if reached_ns is None else reached_ns / 1e9
            if reason := account.look(limits.cpu_s(process.pid), reached_s, _LOOK_S):
                return reason
        else:
            return None


def _report(out: Path) -> GuestReport | None:
    try:
        report: GuestReport = json.loads((out / "guest.json").read_text())
    except (OSError, ValueError):
        return None
    return report


def _without_noise(console: str) -> str:
    """The console without the kernel's messages about consoles that it does not have."""
    noise = ("Using a channel type", "setup_one_line failed", "reboot: Power down")
    return "\n".join(line for line in console.splitlines() if not line.startswith(noise))
