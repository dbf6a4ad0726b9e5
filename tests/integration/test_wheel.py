"""The wheel in an environment of its own, outside the checkout: the same data, keys, identities, packets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from cambrian import paths
from cambrian.store.results import Results, TrialResult

pytestmark = pytest.mark.long

STUDY = """
name = "wheel"
title = "Kernel TCP from a wheel"
design = "solo"
duration_s = 3
seeds = 1

[[network]]
rate_mbps = 20
rtt_ms = 50
buffer_bdp = 1

[[contestant]]
stack = "tcp"
cca = "cubic"
"""
#: everything that is found by its place or named by its content
FACTS = """
import json
from cambrian.claims import load
from cambrian.kernel import recipe
from cambrian.published.load import comparisons, folder
from cambrian.stacks import build, catalogue
from cambrian.study import builtin
from cambrian.suites import find
from cambrian.trial import guest_packages
from cambrian.trial.environment import testbed_hash
print(json.dumps({
    "kernel": recipe.current().digest,
    "stacks": {name: build.source_name(stack) for name, stack in catalogue.load().items()},
    "testbed": testbed_hash(),
    "guest": str(guest_packages.testbed()),
    "studies": [study.name for study in builtin.builtin_studies()],
    "suites": [found.suite.model_dump(mode="json") for found in find.suites()],
    "claims": [claim.id for claim in load.load().claims],
    "published": {paper: list(comparisons(folder(paper))) for paper in ("wpi", "quicbench")},
}))
"""


@dataclass(frozen=True)
class Installed:
    """The environment with the wheel, and an empty folder to work in."""

    python: Path
    packages: Path
    working: Path

    def run(self, *argv: str, statuses: Sequence[int] = (0,)) -> str:
        """What a program of the environment prints."""
        return _run([str(self.python.with_name(argv[0])), *argv[1:]], self.working, statuses=statuses)


def _run(
    argv: Sequence[str], cwd: Path, *, statuses: Sequence[int] = (0,), more: Mapping[str, str] | None = None
) -> str:
    # neither the checkout's code nor stacks of other tests
    environment = {
        name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "CAMBRIAN_STACKS"}
    }
    # otherwise Python writes bytecode beside the package, and a test compares the package's files
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    answer = subprocess.run(
        argv, cwd=cwd, env=environment | dict(more or {}), capture_output=True, text=True, check=False
    )
    assert answer.returncode in statuses, answer.stdout + answer.stderr
    return answer.stdout


def _here(*argv: str, cwd: Path) -> str:
    """What the checkout's own code prints."""
    return _run([sys.executable, *argv], cwd, more={"PYTHONPATH": str(paths.data() / "src")})


def _trial(folder: Path) -> TrialResult:
    """The only trial of a results folder."""
    (place,) = (folder / "trials").iterdir()
    return Results(folder).checked(place.name)


def _files(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel of this checkout alone, without bytecode; its dependencies are those of the tests' Python."""
    folder = tmp_path_factory.mktemp("wheel")
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], paths.data())
    (wheel,) = folder.glob("cambrian-*-py3-none-any.whl")
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-compile"]
    _run([*pip, str(wheel)], folder)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    working = folder / "working"
    working.mkdir()
    return Installed(python, packages, working)


def test_data_and_keys_are_those_of_the_checkout(installed: Installed) -> None:
    assert installed.run("python", "-c", "import cambrian; print(cambrian.__file__)").startswith(
        str(installed.packages)
    )
    wheel = json.loads(installed.run("python", "-c", FACTS))
    assert wheel == json.loads(_here("-c", FACTS, cwd=installed.working))
    assert len(wheel["stacks"]) > 15


def test_a_trial_has_the_identity_and_the_packets_of_the_checkout(installed: Installed) -> None:
    before = _files(installed.packages)
    (installed.working / "wheel.toml").write_text(STUDY)
    installed.run("cambrian", "run", "wheel.toml", "--out", "out")
    _here("-m", "cambrian", "run", "wheel.toml", "--out", "checkout", cwd=installed.working)
    wheel, checkout = (_trial(installed.working / out) for out in ("out", "checkout"))
    assert wheel.verdict["valid"], wheel.verdict["reasons"]
    assert wheel.id == checkout.id
    assert wheel.manifest["packets_sha256"] == checkout.manifest["packets_sha256"]
    # an installation may be read-only
    assert _files(installed.packages) == before


def test_remedies_name_what_an_installation_has(installed: Installed) -> None:
    # its status is 1 if a stack, say, is not built
    found = json.loads(installed.run("cambrian", "doctor", "--json", statuses=(0, 1)))
    remedies = [check["remedy"] for check in found["checks"]]
    assert len(remedies) > 10
    assert not [text for text in remedies if "make " in text or "scripts/" in text]
    ask = "from cambrian import paths; print(paths.page('docs/reference/studies.md'))"
    assert Path(installed.run("python", "-c", ask).strip()).is_file()
