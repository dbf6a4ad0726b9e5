"""Runs programs of the host, such as build commands, with a log and readable errors."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

#: lines of the log that an error shows
TAIL_LINES = 20
#: Seconds between two calls of ``on_tick`` while the command is silent.
TICK_S = 0.5


class CommandFailed(RuntimeError):
    """A command ended with a status other than 0; the text has the command, its log and its last lines."""


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
