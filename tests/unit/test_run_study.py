"""What a run says about the results that its folder has already."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cambrian.run import study
from cambrian.run.study import RunOptions
from cambrian.store.results import Results
from cambrian.study.model import Network, Study
from tests.unit import report_results

OPTIONS = RunOptions("knobs", only="*tls*")


def test_trials_that_the_new_study_leaves_out_are_told(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path)
    data = json.loads((folder / "study.json").read_text())
    names = {name for group in data["groups"] for name in group["trials"]}
    assert study._left_out(Results(folder), names, OPTIONS) == ""
    again = replace(OPTIONS, started_by=data["command"])
    assert study._left_out(Results(folder), set(), again) == ""
    line = study._left_out(Results(folder), set(list(names)[2:]), OPTIONS)
    assert line.startswith(f"study.json listed trials of {data['command']}, and now lists only those of ")
    assert (
        "cambrian run knobs --seed 1 --clock virtual --only '*tls*': 2 earlier trials stay in this " in line
    )
    assert "remedy: --out another folder" in line


def test_the_mean_rate_of_a_trace_is_kept(tmp_path: Path) -> None:
    """A report may be made where the trace's file is not."""
    trace = tmp_path / "link.trace"
    trace.write_text("1\n2\n4\n")
    networks = (
        Network(name="follows", trace_file=str(trace), rtt_ms=50, buffer_bdp=1),
        Network(name="steady", rate_mbps=20, rtt_ms=50, buffer_bdp=1),
    )
    asked = Study(name="s", title="t", design="solo", networks=networks)
    kernel: Any = SimpleNamespace(kernel=SimpleNamespace(version="7", sha256="0"))
    empty: Any = SimpleNamespace(groups=[])
    study._record(Results(tmp_path), asked, empty, kernel, OPTIONS)
    kept = Results(tmp_path).study()["trace_mean_mbps"]
    assert kept == {"follows": pytest.approx(3 * 1514 * 8 / 4000)}


def test_a_folder_without_a_usable_study_has_nothing_to_tell(tmp_path: Path) -> None:
    assert study._left_out(Results(tmp_path), set(), OPTIONS) == ""
    (tmp_path / "study.json").write_text("{")
    assert study._left_out(Results(tmp_path), set(), OPTIONS) == ""
