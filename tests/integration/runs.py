"""Runs of a study by the command, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

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


def cambrian(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in ``folder`` to its end."""
    argv = [sys.executable, "-m", "cambrian", *words]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=400, check=False)
