"""Tests by starting a kernel what this host permits: seccomp mode, ptrace mode, executable memory."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cambrian.command import tried
from cambrian.kernel.model import Kernel

PROBE_LIMIT_S = 20


@dataclass(frozen=True)
class Permission:
    """Whether one way of running programs works here; if not, ``said`` is the kernel's message."""

    works: bool
    said: str


def seccomp(kernel: Kernel) -> Permission:
    """Whether guests can use seccomp mode here."""
    if not kernel.features.seccomp:
        return Permission(False, "this kernel has no seccomp mode (Linux >= 6.16 has)")
    return _probe(kernel, "seccomp=on")


def ptrace(kernel: Kernel) -> Permission:
    """Whether guests can use ptrace here, the alternative to seccomp mode."""
    return _probe(kernel, *(["seccomp=off"] if kernel.features.seccomp else []))


def _probe(kernel: Kernel, *mode: str) -> Permission:
    # The kernel checks the host before it looks for a root file system; without one it
    # panics at once. If it prints its first message, the checks passed.
    with tempfile.TemporaryDirectory(prefix="cambrian-probe-") as folder:
        argv = [str(kernel.path), *mode, "mem=32M", f"uml_dir={folder}/", "root=/dev/null", "panic=-1"]
        argv += ["con=null", "con0=null,fd:1"]
        try:
            status, said = tried(argv, cwd=Path(folder), limit_s=PROBE_LIMIT_S)
        except subprocess.TimeoutExpired:
            return Permission(False, f"no answer within {PROBE_LIMIT_S} s")
        except OSError as error:
            return Permission(False, str(error))
    lines = [line for line in said.splitlines() if line.strip()]
    works = any("Linux version" in line for line in lines)
    return Permission(works, "" if works else (lines[-1] if lines else f"status {status}"))
