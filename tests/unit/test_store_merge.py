"""Joining shards: nothing that one of the folders has is lost, and what none has is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from cambrian.store import merge as merging
from cambrian.store.merge import Mismatch
from cambrian.store.results import Results
from tests.unit import report_results

RECORD = json.loads((report_results.KNOBS / "study.json").read_text())
#: one trial of each of the first two groups
FIRST, SECOND = ({**group, "trials": group["trials"][:1]} for group in RECORD["groups"][:2])
TRIALS = [*FIRST["trials"], *SECOND["trials"]]


def shard(folder: Path, number: int, trials: Sequence[str]) -> Results:
    """A folder of shard ``number`` of 2 that has the results of ``trials``."""
    (folder / "trials").mkdir(parents=True)
    group = FIRST if number == 1 else SECOND
    record = {**RECORD, "groups": [group], "shard": number, "shards": 2}
    (folder / "study.json").write_text(json.dumps(record))
    for name in trials:
        shutil.copytree(report_results.KNOBS / "trials" / name, folder / "trials" / name)
    return Results(folder)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_two_folders_of_one_shard_are_joined(tmp_path: Path, order: tuple[int, ...]) -> None:
    parts = [
        shard(tmp_path / "whole", 1, FIRST["trials"]),
        shard(tmp_path / "broken-off", 1, []),
        shard(tmp_path / "two", 2, SECOND["trials"]),
    ]
    given = [parts[place] for place in order]
    out, told = Results(tmp_path / "out"), []
    assert merging.merge(given, out, lambda: told.append(1)) == []
    assert sorted(path.name for path in out.trials_folder.iterdir()) == sorted(TRIALS)
    assert [name for group in out.study()["groups"] for name in group["trials"]] == TRIALS
    assert len(told) == merging.count(given) == 2


def test_a_listed_trial_without_results_is_named(tmp_path: Path) -> None:
    parts = [shard(tmp_path / "broken-off", 1, []), shard(tmp_path / "two", 2, SECOND["trials"])]
    assert merging.merge(parts, Results(tmp_path / "out"), lambda: None) == FIRST["trials"]


def test_two_folders_of_one_shard_with_other_trials_are_refused(tmp_path: Path) -> None:
    parts = [shard(tmp_path / name, 1, []) for name in ("one", "other")] + [shard(tmp_path / "two", 2, [])]
    path = tmp_path / "other" / "study.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"groups": [SECOND]}))
    with pytest.raises(Mismatch, match=r"one and .*other are both of shard 1/2, but list different trials"):
        merging.merge(parts, Results(tmp_path / "out"), lambda: None)
    assert not (tmp_path / "out" / "study.json").exists()
