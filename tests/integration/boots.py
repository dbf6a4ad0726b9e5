"""Boots a guest for one C program of ``tests/kernel``, or for a script, and returns what it prints."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from cambrian.kernel import boot
from cambrian.kernel.model import Kernel
from cambrian.study.model import Clock
from tests.integration.conftest import own_core

SOURCES = Path(__file__).parents[1] / "kernel"
INIT = """#!/bin/sh
mount -t proc proc /proc
{program}
echo status $?
exec {power_off}
"""
POWER_OFF = """
#include <sys/reboot.h>
#include <unistd.h>
int main(void) { sync(); return reboot(RB_POWER_OFF); }
"""


def first_program(check: str, folder: Path) -> Path:
    """A guest's first program: the check, then the end."""
    subprocess.run(["gcc", "-O2", "-pthread", "-o", folder / check, SOURCES / f"{check}.c"], check=True)
    return first_script(str(folder / check), folder)


def first_script(program: str, folder: Path) -> Path:
    """A guest's first program: the shell's command ``program``, then the end."""
    (folder / "power_off.c").write_text(POWER_OFF)
    subprocess.run(["gcc", "-O2", "-o", folder / "power_off", folder / "power_off.c"], check=True)
    script = folder / "init"
    script.write_text(INIT.format(program=program, power_off=folder / "power_off"))
    script.chmod(0o755)
    return script


def output(
    kernel: Kernel,
    init: Path,
    folder: Path,
    *,
    seccomp: bool = True,
    clock: Clock = "virtual",
    memory_mb: int = 512,
    timeout_s: int = 120,
    settings: Mapping[str, int] | None = None,
) -> list[str]:
    """The lines of a boot with ``init``, whose program must succeed."""
    folder.mkdir()
    with own_core() as core:
        argv = boot.command(
            kernel,
            init=init,
            run_directory=folder,
            memory_mb=memory_mb,
            seed=3,
            clock=clock,
            core=core,
            seccomp=seccomp,
            settings=settings,
        )
        answer = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    lines = [
        line
        for line in answer.stdout.splitlines()
        if not line.startswith(("Using a", "setup_one", "reboot:"))
    ]
    assert "status 0" in lines, lines[-5:]
    return lines
