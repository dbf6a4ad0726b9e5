"""`cambrian gate` on real trials: an unchanged stack, a changed one; the CI files; the pytest plugin."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import tomlkit
import yaml  # its stubs are another package

from tests.integration.runs import cambrian, quickly

pytestmark = pytest.mark.long

CI = Path(__file__).resolve().parents[2] / "ci"
STUDY = """
name = "small"
title = "Small"
design = "solo"
duration_s = 6
seeds = 3
start_spread_ms = 1000
[[network]]
name = "link"
rate_mbps = {rate_mbps}
rtt_ms = 50
buffer_bdp = 1
[[contestant]]
stack = "$STACK"
cca = "$CCA"
"""
#: stands for a stack that has become slow, beside a baseline that does not know the receiver's costs
SLOW = "receiver_cpu = { per_packet_us = 4000 }\n"
GATE = 'contestant = "quinn/cubic"\nstudies = ["small.toml"]\n'


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a gate and its baseline."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "small.toml").write_text(STUDY.format(rate_mbps=5))
    (folder / "gate.toml").write_text(GATE)
    made = quickly(folder, "gate", "gate.toml", "--update")
    assert made.returncode == 0, made.stderr
    return folder


def _of_an_earlier_version(baseline: str) -> str:
    """The baseline without the settings of the study's contestants, which are then not compared."""
    made = tomlkit.parse(baseline)
    del made["settings"]
    return tomlkit.dumps(made)


def test_an_unchanged_stack_passes_under_load_and_in_another_folder(project: Path, tmp_path: Path) -> None:
    loop = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        found = cambrian(project, "gate", "gate.toml", "--out", str(tmp_path / "out"))
    finally:
        loop.kill()
        loop.wait()
    assert found.returncode == 0, found.stdout + found.stderr
    assert "unchanged" in found.stdout
    # the third seed has not run
    assert len(list((tmp_path / "out" / "small" / "trials").glob("*/manifest.json"))) == 2


def test_a_change_is_different_and_named(project: Path, tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(GATE)
    baseline = (project / "gate.baseline.toml").read_text()
    (tmp_path / "gate.baseline.toml").write_text(_of_an_earlier_version(baseline))
    (tmp_path / "small.toml").write_text(STUDY.format(rate_mbps=5) + SLOW)
    words = ("--junit", "j.xml", "--json", "r.json", "--markdown", "s.md", "--jobs", "1")
    found = quickly(tmp_path, "gate", "gate.toml", *words)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "different: figures changed" in found.stdout and "--update" in found.stdout
    (result,) = json.loads((tmp_path / "r.json").read_text())
    throughput = next(one for one in result["compared"]["figures"] if one["name"] == "throughput_mbps")
    assert throughput["state"] == "different" and throughput["change"] < 0
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()[0]
    assert int(suite.get("failures", 0)) >= 1
    assert "| different |" in (tmp_path / "s.md").read_text()


def test_another_study_is_not_judged(project: Path, tmp_path: Path) -> None:
    for name in ("gate.toml", "gate.baseline.toml"):
        (tmp_path / name).write_text((project / name).read_text())
    (tmp_path / "small.toml").write_text(STUDY.format(rate_mbps=3))
    found = quickly(tmp_path, "gate", "gate.toml", "--jobs", "1", "--json", "r.json")
    assert found.returncode == 2, found.stdout + found.stderr
    assert "not judged: the study is not that of the baseline" in found.stdout
    assert "rate_mbps = 5.0 → rate_mbps = 3.0" in found.stdout and "Restore the studies" in found.stdout
    # no seed would change that, so the others have not run
    assert len(list(tmp_path.glob("results/gate/*/small/trials/*/manifest.json"))) == 2
    (result,) = json.loads((tmp_path / "r.json").read_text())
    assert (result["outcome"], result["all_seeds"], result["compared"]["changed"]) == ("not judged", False, 2)
    assert result["compared"]["conditions"] and not result["compared"]["figures"]


def test_another_receiver_is_another_study(project: Path, tmp_path: Path) -> None:
    for name in ("gate.toml", "gate.baseline.toml"):
        (tmp_path / name).write_text((project / name).read_text())
    (tmp_path / "small.toml").write_text(STUDY.format(rate_mbps=5) + SLOW)
    found = quickly(tmp_path, "gate", "gate.toml", "--jobs", "1")
    assert found.returncode == 2, found.stdout + found.stderr
    assert "receiver_cpu.per_packet_us = 4000" in found.stdout and "Restore the studies" in found.stdout


def test_without_a_baseline_it_ends_with_2(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text('contestant = "quinn/cubic"\n')
    found = quickly(tmp_path, "gate", "gate.toml")
    assert found.returncode == 2
    assert "gate.baseline.toml: there is no baseline" in found.stderr and "--update" in found.stderr


def test_two_stores_of_one_study_are_compared(project: Path, tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(
        STUDY.format(rate_mbps=5).replace("$STACK", "quinn").replace("$CCA", "cubic")
    )
    (tmp_path / "two.toml").write_text(
        (tmp_path / "one.toml").read_text().replace("rate_mbps = 5", "rate_mbps = 3")
    )
    # the trials of the gate's study are those of this one
    shutil.copytree(project / "results" / "gate" / "quinn-cubic" / "small", tmp_path / "one")
    for name, run in (("one", 0), ("two", 3)):
        ran = quickly(tmp_path, "run", f"{name}.toml", "--out", name, "--jobs", "1")
        assert ran.returncode == 0 and f"{run} trials run" in ran.stderr, ran.stderr
    same = quickly(tmp_path, "compare", "one", "one")
    assert "3 trials sent the same packets, 0 others" in same.stdout
    assert "0 different" in same.stdout
    two = quickly(tmp_path, "compare", "one", "two", "--contestant", "quinn/cubi")
    assert two.returncode == 2 and "its contestants are: quinn/cubic" in two.stderr
    other = quickly(tmp_path, "compare", "one", "two", "--json")
    figures = json.loads(other.stdout)["figures"]
    assert {one["name"] for one in figures if one["state"] == "different"} >= {"throughput_mbps"}


def _bash(step: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    binary = folder / "bin"
    binary.mkdir(exist_ok=True)
    (binary / "cambrian").write_text(f'#!/bin/sh\nexec {sys.executable} -m cambrian "$@"\n')
    (binary / "cambrian").chmod(0o755)
    known = os.environ | {"PATH": f"{binary}:{os.environ['PATH']}"} | environment
    # as both services run a step
    argv = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step]
    return subprocess.run(
        argv, cwd=folder, env=known, capture_output=True, text=True, timeout=300, check=False
    )


def test_the_github_action_passes_an_unchanged_stack_and_fails_a_changed_one(
    project: Path, tmp_path: Path
) -> None:
    action: dict[str, Any] = yaml.safe_load((CI / "github" / "action.yml").read_text())
    step = next(step for step in action["runs"]["steps"] if step.get("id") == "gate")
    assert set(step["env"]) == {"GATES", "TRUST"}
    for name, more, status in (("same", "", 0), ("other", SLOW, 1)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "gate.toml").write_text(GATE)
        baseline = (project / "gate.baseline.toml").read_text()
        (folder / "gate.baseline.toml").write_text(_of_an_earlier_version(baseline))
        (folder / "small.toml").write_text(STUDY.format(rate_mbps=5) + more)
        summary, output = folder / "summary.md", folder / "output"
        ran = _bash(
            step["run"],
            folder,
            GATES="gate.toml",
            TRUST="true",
            GITHUB_STEP_SUMMARY=str(summary),
            GITHUB_OUTPUT=str(output),
            GITHUB_ACTIONS="true",
        )
        assert ran.returncode == status, ran.stdout + ran.stderr
        assert output.read_text() == f"status={status}\n"
        assert summary.read_text().startswith("### quinn/cubic: ")
        assert ("::error file=gate.toml," in ran.stdout) == bool(status)
        assert (folder / "cambrian-junit.xml").exists()


def test_the_gitlab_template_runs_the_gate(project: Path, tmp_path: Path) -> None:
    job: dict[str, Any] = yaml.safe_load((CI / "gitlab" / "gate.yml").read_text())["cambrian-gate"]
    assert "allow_failure" not in job  # a stack that no longer runs is not judged, and must not pass
    for file in ("gate.toml", "gate.baseline.toml", "small.toml"):
        (tmp_path / file).write_text((project / file).read_text())
    ran = _bash("\n".join(job["script"]), tmp_path, CAMBRIAN_GATES="gate.toml", CAMBRIAN_PACKAGE="")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert all((tmp_path / name).exists() for name in job["artifacts"]["paths"])


TESTS = """
def test_good(cambrian_trial):
    trial = cambrian_trial("quinn/cubic", rate_mbps=5, rtt_ms=50, buffer_bdp=1, duration_s=6)
    trial.assert_between("throughput_mbps", 3, 5.1)
    trial.assert_same_packets(trial.packets_sha256[:12])

def test_bad(cambrian_trial):
    trial = cambrian_trial("quinn/cubic", rate_mbps=5, rtt_ms=50, buffer_bdp=1, duration_s=6)
    trial.assert_between("throughput_mbps", 7, 9)

def test_misspelt(cambrian_trial):
    trial = cambrian_trial("quinn/cubic", rate_mbps=5, rtt_ms=50, buffer_bdp=1, duration_s=6)
    trial.value("throughput_mbs")
"""


def test_the_pytest_plugin_says_what_was_measured(tmp_path: Path) -> None:
    (tmp_path / "test_stack.py").write_text(TESTS)
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    # this test may run in a process of pytest-xdist
    known = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ran = subprocess.run(
        argv, cwd=tmp_path, env=known, capture_output=True, text=True, timeout=300, check=False
    )
    assert "2 failed, 1 passed" in ran.stdout, ran.stdout + ran.stderr
    assert re.search(r"throughput_mbps of flow 0 \(quinn cubic\) is \d\.\d+.*expected 7 to 9", ran.stdout)
    assert "did you mean throughput_mbps" in ran.stdout
    # the three tests share one trial
    assert len(list((tmp_path / "results" / "pytest" / "trials").glob("*/manifest.json"))) == 1
