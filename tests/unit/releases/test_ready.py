"""What is checked before a release is built."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from cambrian.command import CommandFailed
from cambrian.gate import snapshot
from cambrian.gate.snapshot import Snapshot
from cambrian.releases import ready, trials
from cambrian.run import prepare, study
from cambrian.run.study import RunOptions
from cambrian.stacks import build, catalogue
from cambrian.store.results import InUse, Results
from cambrian.study.errors import StudyError


@pytest.mark.parametrize("cca", ["cubic", "bbr"])
def test_a_cca_of_some_releases_is_one_of_the_stack_s(cca: str, tmp_path: Path) -> None:
    stack = catalogue.load()["quiche"]
    assert ("bbr" in stack.manifest.ccas, "bbr" in stack.manifest.at("0.24.6").ccas) == (False, True)
    ready.check_cca(stack, cca)
    trials.Bench("quiche", cca, RunOptions(trials.STUDY), tmp_path).check()


def test_a_cca_of_no_release_is_an_error() -> None:
    with pytest.raises(StudyError, match=r"did you mean cubic\?.*bbr2"):
        ready.check_cca(catalogue.load()["quiche"], "cubc")


@pytest.mark.parametrize("recorded", [True, False])
def test_a_registry_that_does_not_answer_is_no_fault_of_the_release(
    monkeypatch: pytest.MonkeyPatch, recorded: bool
) -> None:
    """A release that does not build is recorded with its first error."""
    known = [build.Status("missing", "", "")]

    def ensure(stack: catalogue.Stack) -> None:
        if recorded:
            known.append(build.Status("fails", "error[E0432]: gone", ""))
        raise CommandFailed("cargo update\nerror: failed to get `quinn-proto`\nCould not resolve host")

    monkeypatch.setattr(build, "ensure", ensure)
    monkeypatch.setattr(build, "status", lambda _: known[-1])
    why = ready.why_not("quinn@0.11.15", "cubic")
    assert why == (
        "does not build with this endpoint: error[E0432]: gone" if recorded
        else "could not be built now: error: failed to get `quinn-proto`"
    )  # fmt: skip


def test_no_other_run_exchanges_the_releases_that_are_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench = trials.Bench("quinn", "cubic", RunOptions(trials.STUDY), tmp_path / "out")
    refused = []

    def measured(folders: dict[str, Path], contestant: str) -> Snapshot:
        with pytest.raises(InUse), Results(folders[""]).alone():
            pass
        refused.append(contestant)
        return Snapshot(contestant=contestant, made_with={}, packets={})

    monkeypatch.setattr(prepare, "ensure", lambda *_: None)
    monkeypatch.setattr(study, "_run_groups", lambda *_: study.Summary())
    monkeypatch.setattr(snapshot, "take", measured)
    monkeypatch.setattr(bench.__class__, "contestant", lambda *_: "quinn/cubic")
    bench.measure(["0.11.12"], Console(quiet=True))
    assert refused == ["quinn/cubic"]
