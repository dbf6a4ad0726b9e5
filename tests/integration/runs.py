"""Runs of the command, in a process of their own."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile

from cambrian.store.results import Results


def start(
    study: Path, out: Path, where: Sequence[str] = ("--jobs", "1"), path: str | None = None
) -> subprocess.Popen[str]:
    """Run a study, by default on one core; standard error can be read. ``path`` replaces $PATH."""
    argv = [sys.executable, "-m", "cambrian", "run", str(study), "--out", str(out), *where]
    return subprocess.Popen(
        argv,
        env=os.environ | ({} if path is None else {"PATH": path}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def hashes(out: Path) -> dict[str, str]:
    """Trial → the hash of its packets, for all finished trials."""
    trials = sorted(path.name for path in (out / "trials").iterdir() if not path.name.startswith("."))
    return {name: Results(out).trial(name).manifest["packets_sha256"] for name in trials}


def cambrian(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command in ``folder`` to its end."""
    argv = [sys.executable, "-m", "cambrian", *map(str, words)]
    return subprocess.run(
        argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def quickly(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """As :func:`cambrian`, by a fork of a process that has imported the commands: that saves half a second.

    Each command is run by :func:`cambrian` or :func:`start` in some test.
    """
    argv = [str(folder), *map(str, words)]
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        status = _preloaded().run(argv, (out.fileno(), err.fileno()))
        for file in (out, err):
            file.seek(0)
        return subprocess.CompletedProcess(argv, status, out.read(), err.read())


class _Preloaded:
    """A process of :mod:`tests.integration.preloaded`, with the environment of its start."""

    def __init__(self) -> None:
        self.environment = _environment()
        self._ours, theirs = socket.socketpair()
        with theirs:
            argv = [
                sys.executable,
                "-m",
                "tests.integration.preloaded",
                str(theirs.fileno()),
                str(os.getpid()),
            ]
            self._process = subprocess.Popen(
                argv,
                cwd=Path(__file__).parents[2],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def run(self, argv: Sequence[str], files: Sequence[int]) -> int:
        """The exit status of a command."""
        try:
            socket.send_fds(self._ours, [json.dumps(argv).encode()], files)
            return int(self._ours.recv(16))
        except BaseException:
            # its command ends with it
            self.end()
            raise

    def end(self) -> None:
        _kept.clear()
        self._ours.close()
        self._process.kill()
        self._process.wait()


_kept: list[_Preloaded] = []


def _preloaded() -> _Preloaded:
    """The process of these tests, made anew if a test has changed the environment."""
    if _kept and _kept[0].environment != _environment():
        _kept[0].end()
    if not _kept:
        _kept.append(_Preloaded())
        atexit.register(_kept[0].end)
    return _kept[0]


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
