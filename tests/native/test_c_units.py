"""The unit tests in C that live beside the C endpoints, under the sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STACKS = ROOT / "stacks"
FLAGS = [
    "-O1",
    "-g",
    "-std=c11",
    "-D_GNU_SOURCE",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fsanitize=address,undefined",
]


def run(folder: Path, test: str, units: list[str], build: Path, *arguments: str) -> None:
    program = build / test
    sources = [folder / "tests" / f"{test}.c", *(folder / f"{unit}.c" for unit in units)]
    subprocess.run(["cc", *FLAGS, f"-I{folder}", "-o", program, *sources], check=True)
    result = subprocess.run([program, *arguments], check=False, capture_output=True, text=True, timeout=20)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("folder", "test", "units"),
    [
        ("shared/c", "hq_test", ["hq"]),
        ("shared/c", "udp_test", ["udp", "address", "options", "stop"]),
        ("ngtcp2", "controller_test", ["controller"]),
    ],
)
def test_unit(tmp_path: Path, folder: str, test: str, units: list[str]) -> None:
    run(STACKS / folder, test, units, tmp_path)


def test_pages(tmp_path: Path) -> None:
    www = tmp_path / "www"
    (www / "sub").mkdir(parents=True)
    (www / "index.html").write_text("<html")
    (www / "a.jpg").write_bytes(b"")
    (tmp_path / "secret").write_text("not to be served")
    run(STACKS / "ngtcp2", "page_test", ["page"], tmp_path, str(www))
