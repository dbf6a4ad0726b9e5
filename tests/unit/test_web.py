"""The pages' script: the committed bundle is the one that web/ builds, and its unit tests pass."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
COMMITTED = ROOT / "src" / "cambrian" / "report" / "templates"


@pytest.fixture(scope="module", autouse=True)
def node() -> None:
    if not shutil.which("node"):
        pytest.skip("no node here")
    if not (WEB / "node_modules").is_dir():
        pytest.skip("web/node_modules is missing; remedy: make lint")


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_committed_bundle_is_what_its_source_builds(tmp_path: Path) -> None:
    run("node", "build.mjs", "--out", str(tmp_path))
    built = sorted(tmp_path.iterdir())
    assert built
    for file in built:
        assert file.read_bytes() == (COMMITTED / file.name).read_bytes(), f"{file.name}; remedy: make web"


def test_unit_tests_of_the_script() -> None:
    run("npm", "test")


def test_the_lock_names_no_registry() -> None:
    assert "://" not in "".join(
        line for line in (WEB / "package-lock.json").read_text().splitlines() if "resolved" in line
    )
