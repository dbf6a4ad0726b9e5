"""Builds the C programs once a run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "src/cambrian/testbed/native"
SANITIZERS = "-fsanitize=address,undefined"
FLAGS = ["-O1", "-g", "-std=c11", "-Wall", "-Wextra", "-Werror", SANITIZERS]


@pytest.fixture(autouse=True)
def _memory_left_to_exit(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lives until a program's end is left to the kernel: not a leak."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")


def _compile(program: Path, sources: list[Path]) -> Path:
    subprocess.run(["cc", *FLAGS, f"-I{NATIVE}", "-o", program, *sources], check=True)
    return program


@pytest.fixture(scope="session")
def queue_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trace link's queue behind a script reader."""
    program = tmp_path_factory.mktemp("queue") / "queue_driver"
    return _compile(program, [Path(__file__).with_name("queue_driver.c"), NATIVE / "queue.c"])


@pytest.fixture(scope="session")
def tracelink(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trace link itself."""
    program = tmp_path_factory.mktemp("tracelink") / "tracelink"
    return _compile(program, [NATIVE / "tracelink.c", NATIVE / "queue.c"])


@pytest.fixture(scope="session")
def tcp_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernel TCP endpoint, as its own Makefile builds it but with the sanitizers."""
    out = tmp_path_factory.mktemp("tcp")
    flags = f"-O1 -g {SANITIZERS}"
    subprocess.run(["make", "-C", ROOT / "stacks/tcp", f"OUT={out}", f"CFLAGS={flags}"], check=True)
    return out / "cambrian-tcp"
