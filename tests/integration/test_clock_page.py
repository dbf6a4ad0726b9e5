"""Clock reads from the shared page change no result, nor does ptrace; RDTSC tells the guest's time."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cambrian.engine import pool
from cambrian.kernel import boot, locate
from cambrian.kernel.model import Kernel

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


def _first_program(check: str, folder: Path) -> Path:
    """A guest's first program: the check, then the end."""
    (folder / "power_off.c").write_text(POWER_OFF)
    for source, program in ((SOURCES / f"{check}.c", check), (folder / "power_off.c", "power_off")):
        subprocess.run(["gcc", "-O2", "-pthread", "-o", folder / program, source], check=True)
    script = folder / "init"
    script.write_text(INIT.format(program=folder / check, power_off=folder / "power_off"))
    script.chmod(0o755)
    return script


@pytest.fixture(scope="module")
def init(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The check of the clocks."""
    return _first_program("clock_check", tmp_path_factory.mktemp("clock"))


def _output(kernel: Kernel, init: Path, folder: Path, *, seccomp: bool = True) -> list[str]:
    folder.mkdir()
    argv = boot.command(
        kernel, init=init, run_directory=folder, seed=3, core=pool.cores()[0], seccomp=seccomp
    )
    answer = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
    )
    lines = [
        line
        for line in answer.stdout.splitlines()
        if not line.startswith(("Using a", "setup_one", "reboot:"))
    ]
    assert "status 0" in lines, lines[-5:]
    return lines


def test_the_clock_page_changes_no_result(init: Path, tmp_path: Path) -> None:
    kernel = locate.ensure()
    assert kernel.features.vdso_clock, "this kernel has no clock page: it was built without the patches"
    without = replace(kernel, features=replace(kernel.features, vdso_clock=False))
    on = _output(kernel, init, tmp_path / "on")
    off = _output(without, init, tmp_path / "off")
    assert len(on) > 1000
    assert on == off


def test_ptrace_gives_the_same_result(init: Path, tmp_path: Path) -> None:
    kernel = locate.ensure()
    assert _output(kernel, init, tmp_path / "a") == _output(kernel, init, tmp_path / "b", seccomp=False)


def test_rdtsc_tells_the_guest_s_time_and_repeats(tmp_path: Path) -> None:
    kernel = locate.ensure()
    assert kernel.features.tsc, "this kernel does not answer RDTSC: it was built without the patches"
    init = _first_program("tsc_check", tmp_path)
    first = _output(kernel, init, tmp_path / "first")
    assert len(first) > 10
    assert first == _output(kernel, init, tmp_path / "second")
    assert first == _output(kernel, init, tmp_path / "ptrace", seccomp=False)
