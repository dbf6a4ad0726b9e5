"""What a run says about the results that its folder has already."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from cambrian.run import study
from cambrian.run.study import RunOptions
from cambrian.store.results import Results
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


def test_a_folder_without_a_usable_study_has_nothing_to_tell(tmp_path: Path) -> None:
    assert study._left_out(Results(tmp_path), set(), OPTIONS) == ""
    (tmp_path / "study.json").write_text("{")
    assert study._left_out(Results(tmp_path), set(), OPTIONS) == ""
