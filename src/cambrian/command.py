"""Runs programs of the host, such as build commands, with a log and readable errors."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

#: how often a test of this machine is tried
_TRIES = 3
#: exit statuses after SIGKILL and SIGTERM, of the program itself and of one that it has started
_KILLED = (-signal.SIGKILL, -signal.SIGTERM, 128 + signal.SIGKILL, 128 + signal.SIGTERM)
#: lines of the log that an error shows
TAIL_LINES = 20
#: Seconds between two calls of ``on_tick`` while the command is silent.
TICK_S = 0.5


class CommandFailed(RuntimeError):
    """A command ended with a status other than 0; the text has the command, its log and its last lines."""


class Killed(RuntimeError):
    """Something outside killed a test of this machine, each time; the test says nothing about the machine."""


class MissingTool(RuntimeError):
    """A tool is missing or too old. ``remedy`` is one command that installs it."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; remedy: {remedy}")
        self.what = what
        self.remedy = remedy


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without variables that change a build: flags of make and compilers.

    ``make demo`` runs this program under make; its MAKEFLAGS would otherwise reach the kernel's make.
    """
    flags = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "GNUMAKEFLAGS", "ARCH", "CROSS_COMPILE"}
    flags |= {"CFLAGS", "CPPFLAGS", "LDFLAGS", "KCFLAGS", "KBUILD_OUTPUT", "O", "V", "CC", "HOSTCC"}
    environment = {name: value for name, value in os.environ.items() if name not in flags}
    return environment | {"LC_ALL": "C.UTF-8"} | dict(extra or {})


def tried(argv: Sequence[str], *, cwd: Path | None = None, limit_s: float) -> tuple[int, str]:
    """The exit status and the output (both streams) of a test of this machine.

    A test that something outside kills is repeated, because a killed test must not look like a machine
    that cannot do what was tested.

    Raises:
        Killed: it was killed :data:`_TRIES` times.
        OSError, subprocess.TimeoutExpired: it cannot be started, or gives no answer within ``limit_s``.
    """
    for _ in range(_TRIES):
        answer = subprocess.run(
            argv,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=limit_s,
            check=False,
        )
        if answer.returncode not in _KILLED:
            return answer.returncode, answer.stdout
    raise Killed(f"{argv[0]} was killed {_TRIES} times by something outside; remedy: run the command again")


def run(
    argv: Sequence[str],
    *,
    log: Path,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
    on_tick: Callable[[float], None] | None = None,
) -> None:
    """Run ``argv`` to its end, and append its output (both streams) to ``log``.

    ``on_line`` gets each line without its line end; ``on_tick`` gets the seconds since the
    start, at least twice a second.

    Raises:
        CommandFailed: a status other than 0.
    """
    began = time.monotonic()
    tail: list[str] = []
    with log.open("ab") as sink:
        sink.write(f"$ {' '.join(argv)}\n".encode())
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=clean_environment() if environment is None else dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert process.stdout is not None
        try:
            for line in _lines(process.stdout.fileno(), sink.write, lambda: _tick(on_tick, began)):
                tail = [*tail[-TAIL_LINES + 1 :], line]
                if on_line:
                    on_line(line)
            status = process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if status:
        shown = "\n".join(f"  {line}" for line in tail)
        words = " ".join(argv)
        raise CommandFailed(f"{words}\nended with status {status}; its last lines:\n{shown}\nlog: {log}")


def _tick(on_tick: Callable[[float], None] | None, began: float) -> None:
    if on_tick:
        on_tick(time.monotonic() - began)


def _lines(fd: int, keep: Callable[[bytes], object], tick: Callable[[], None]) -> Iterator[str]:
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        while True:
            tick()
            if not selector.select(TICK_S):
                continue
            chunk = os.read(fd, 65536)
            if not chunk:
                break
            keep(chunk)
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line.decode(errors="replace").rstrip("\r")
    if rest:
        yield rest.decode(errors="replace")
