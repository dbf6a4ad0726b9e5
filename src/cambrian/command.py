"""The host's programs: one that is missing, and a build command (its log, its lines, a readable error)."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

#: Lines of the log that an error repeats.
TAIL_LINES = 20
#: Seconds between two calls of ``on_tick`` while the command is silent.
TICK_S = 0.5


class CommandFailed(RuntimeError):
    """A build command ended with another status than 0; the text names it, its log and its last lines."""


class MissingTool(RuntimeError):
    """A tool is not there, or too old. ``remedy`` is one command that brings it."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; remedy: {remedy}")
        self.what = what
        self.remedy = remedy


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without what would bend a build: make's and compilers' flags.

    ``make demo`` runs us under make, whose MAKEFLAGS would otherwise reach the kernel's make.
    """
    bending = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "GNUMAKEFLAGS", "ARCH", "CROSS_COMPILE"}
    bending |= {"CFLAGS", "CPPFLAGS", "LDFLAGS", "KCFLAGS", "KBUILD_OUTPUT", "O", "V", "CC", "HOSTCC"}
    environment = {name: value for name, value in os.environ.items() if name not in bending}
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
    """Run ``argv`` to its end, appending its output (both streams) to ``log``.

    ``on_line`` gets each line without its end; ``on_tick`` gets the seconds since the
    start, at least twice a second. Raises :class:`CommandFailed` for any status but 0.
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
