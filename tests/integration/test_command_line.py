"""What a person sees: one clear error and no traceback, costs beforehand, answers on standard output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cambrian.selftest import shipped
from cambrian.selftest.bench import bench
from cambrian.trial import plan
from tests.integration.runs import cambrian, quickly

GOOD = """\
name = "good"
title = "A study"
design = "solo"
duration_s = 5
seeds = 1
[[network]]
rate_mbps = 20
rtt_ms = 50
buffer_bdp = 1
[[contestant]]
stack = "tcp"
cca = "cubic"
"""


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("rtt_ms = 50", "rtt_s = 0.05", ["bad.toml:8", "rtt_s", "rtt_ms"]),
        ("rate_mbps = 20", "rate_mbps = -20", ["bad.toml:7", "rate_mbps"]),
        ('stack = "tcp"', 'stack = "tpc"', ["bad.toml:11", "tpc", "tcp"]),
        ('cca = "cubic"', 'cca = "qubic"', ["bad.toml:12", "qubic", "cubic"]),
        ("seeds = 1", "seed = 1", ["bad.toml:5", "seed", "seeds"]),
        ("buffer_bdp = 1", "buffer_bdp = ", ["bad.toml:9"]),
    ],
)
def test_a_bad_study_gets_one_clear_error(tmp_path: Path, old: str, new: str, names: list[str]) -> None:
    (tmp_path / "bad.toml").write_text(GOOD.replace(old, new))
    answer = quickly(tmp_path, "run", "bad.toml")
    assert answer.returncode == 2
    assert "Traceback" not in answer.stderr
    for name in names:
        assert name in answer.stderr, answer.stderr


def test_a_study_that_is_not_there(tmp_path: Path) -> None:
    answer = quickly(tmp_path, "run", "quikstart")
    assert answer.returncode == 2
    assert "quickstart" in answer.stderr


def test_a_dry_run_says_what_it_would_cost_and_runs_nothing(tmp_path: Path) -> None:
    answer = quickly(tmp_path, "run", "quickstart", "--dry-run")
    assert answer.returncode == 0
    assert "trials, about" in answer.stderr
    assert not (tmp_path / "results").exists()


def test_one_trial_by_its_description_repeats_a_study_s(tmp_path: Path) -> None:
    (tmp_path / "good.toml").write_text(GOOD)
    assert quickly(tmp_path, "run", "good.toml", "--out", "r").returncode == 0
    dry = quickly(tmp_path, "run", "good.toml", "--out", "r", "--dry-run")
    assert "1 trial with results already; none is left to run" in dry.stderr
    (folder,) = (tmp_path / "r" / "trials").iterdir()
    manifest = json.loads((folder / "manifest.json").read_text())
    (tmp_path / "trial.json").write_text(json.dumps(manifest["trial"]))
    answer = cambrian(tmp_path, "trial", "trial.json", "--out", "again")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["packets_sha256"] == manifest["packets_sha256"]


def test_a_report_of_nothing_says_so(tmp_path: Path) -> None:
    answer = quickly(tmp_path, "report", str(tmp_path))
    assert answer.returncode == 2
    assert "study.json" in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.long
def test_the_links_are_as_configured(tmp_path: Path) -> None:
    answer = cambrian(tmp_path, "selftest", "--only", "link", "--json")
    assert answer.returncode == 0, answer.stdout
    found = json.loads(answer.stdout)
    assert found["ok"]
    assert {check["name"].partition(":")[0] for check in found["checks"]} == {"rtt", "rate", "buffer", "loss"}


def _of_the_tests() -> set[str]:
    """The shipped trials of the stacks that the tests build."""
    return {
        f"shipped: {name}"
        for name, one in shipped.trials().items()
        if set(plan.stack_names(one)) <= shipped.STACKS
    }


def test_this_machine_has_the_packets_of_the_repository() -> None:
    with bench(1, shipped.STACKS) as workbench:
        found = {check.name: check.ok for check in shipped.checks(workbench)}
    assert found == {shipped.NOT_BUILT: None} | dict.fromkeys(_of_the_tests(), True)


@pytest.mark.slow
def test_this_machine_has_the_packets_of_every_stack_that_is_built(tmp_path: Path) -> None:
    answer = cambrian(tmp_path, "selftest", "--only", "shipped", "--json")
    assert answer.returncode == 0, answer.stdout
    found = json.loads(answer.stdout)["checks"]
    same = {check["name"] for check in found if check["ok"]}
    assert same >= _of_the_tests()
    # a stack that is not built gives no row of its own; packets that follow the processor may differ here
    by_processor = {
        f"shipped: {name}"
        for name, one in shipped.trials().items()
        if shipped.BY_PROCESSOR & set(plan.stack_names(one))
    }
    assert {check["name"] for check in found} - same <= {shipped.NOT_BUILT} | by_processor
