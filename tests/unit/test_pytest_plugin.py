"""The pytest fixture: its results folder, and trials that the host disturbs."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cambrian import pytest_plugin
from cambrian.doctor import store
from cambrian.pytest_plugin import FinishedTrial
from cambrian.run import pool
from cambrian.stacks import catalogue
from cambrian.store.results import NO_STUDY, Results
from cambrian.trial import carry_out
from cambrian.trial.boot import Disturbed
from tests.unit import report_results


def test_its_folder_is_whole_without_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "look_in", lambda _: None)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    config = SimpleNamespace(rootpath=tmp_path, getoption=lambda _: "kept")
    (tmp_path / "kept" / "trials").mkdir(parents=True)
    fixture: Any = inspect.unwrap(pytest_plugin.cambrian_trial)
    for _ in fixture(config):
        assert (tmp_path / "kept" / NO_STUDY).exists()
    (report,) = store.examine(tmp_path / "kept", mend=False)
    assert report.whole, report.findings


@pytest.mark.parametrize("disturbed", [pool.TRIES - 1, pool.TRIES])
def test_a_trial_that_the_host_disturbs_runs_again(disturbed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []

    def run(*_: object, **__: object) -> None:
        ran.append(1)
        if len(ran) <= disturbed:
            raise Disturbed("the guest was killed")

    monkeypatch.setattr(carry_out, "run", run)
    made: Any = None
    if disturbed == pool.TRIES:
        with pytest.raises(Disturbed):
            pytest_plugin._carry_out(made, made, made)
    else:
        pytest_plugin._carry_out(made, made, made)
    assert len(ran) == pool.TRIES


def test_processes_of_xdist_have_a_processor_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """All guests were on the first one: two processes took as long as one."""
    monkeypatch.setattr(pool, "cores", lambda: [4, 6])
    found = []
    for worker in ("", "gw0", "gw1", "gw2"):
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
        found.append(pytest_plugin._core())
    assert found == [4, 4, 6, 4]


def test_an_invalid_trial_has_no_value(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path)
    name = Results(folder).study()["groups"][0]["trials"][0]
    assert FinishedTrial(Results(folder).trial(name)).value("throughput_mbps") > 1
    report_results.reject(folder, name, "flow 0 ended early")
    with pytest.raises(pytest.fail.Exception, match="flow 0 ended early"):
        FinishedTrial(Results(folder).trial(name)).value("throughput_mbps")
