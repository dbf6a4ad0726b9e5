"""Joining shards: nothing that one of the folders has is lost, and what none has is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cambrian.cli import app
from cambrian.gate import snapshot
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


def edited(results: Results, **changes: object) -> Results:
    """The same folder with other values in its ``study.json``."""
    path = results.folder / "study.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return results


def pair(folder: Path) -> list[Results]:
    return [shard(folder / "one", 1, FIRST["trials"]), shard(folder / "two", 2, SECOND["trials"])]


def test_a_study_json_that_doctor_moved_is_no_study(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    (one.folder / "damaged").mkdir()
    (one.folder / "damaged" / "study.json").write_text('{"groups": [')
    assert merging.places([one.folder, two.folder]) == [Path()]


@pytest.mark.parametrize("deep", ["a", "a/b/c/d/e"])
def test_studies_at_any_depth_are_joined(tmp_path: Path, deep: str) -> None:
    shard(tmp_path / "one" / deep, 1, [])
    # a study in a study's folder
    shard(tmp_path / "one" / deep / "inner", 1, [])
    assert merging.places([tmp_path / "one"]) == [Path(deep), Path(deep, "inner")]


def test_the_record_of_a_suite_that_doctor_moved_is_no_record(tmp_path: Path) -> None:
    shards = [tmp_path / "one", tmp_path / "two"]
    record = {"cambrian": "1", "suite": "s", "parts": ["a"], "profile": None, "command": "cambrian run s"}
    for place in ("one/damaged", "two"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "suite.json").write_text(json.dumps(record))
    (tmp_path / "one/damaged/suite.json").write_text("{")
    merging.copy_suites(shards, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["suite.json"]


def test_the_same_command_in_other_words_is_the_same(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    edited(one, command="cambrian run wan.toml --seed 1 --clock virtual")
    edited(two, command="cambrian run ./wan.toml --seed 1 --clock virtual --trust")
    assert merging.merge([one, two], Results(tmp_path / "out"), lambda: None) == []
    edited(two, command="cambrian run wan.toml --seed 2 --clock virtual")
    with pytest.raises(Mismatch, match="command is not that of the other shards"):
        merging.merge([one, two], Results(tmp_path / "out"), lambda: None)


def test_a_shard_and_another_study_are_not_overwritten(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    before = (one.folder / "study.json").read_text()
    with pytest.raises(Mismatch, match="one has results of a shard, which merge keeps"):
        merging.merge([one, two], one, lambda: None)
    assert (one.folder / "study.json").read_text() == before
    out = Results(tmp_path / "out")
    for _ in range(2):
        merging.merge([one, two], out, lambda: None)
    edited(out, study=RECORD["study"] | {"name": "other"})
    with pytest.raises(Mismatch, match="has results of another study, other"):
        merging.merge([one, two], out, lambda: None)


def test_trials_that_the_shards_do_not_list_are_not_hidden(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    out = Results(tmp_path / "out")
    merging.merge([one, two], out, lambda: None)
    before = (out.folder / "study.json").read_text()
    # the shards of a run with another seed list other trials
    edited(one, groups=[FIRST | {"trials": ["0" * 16]}])
    with pytest.raises(Mismatch, match="has results of 1 trial that the shards do not list"):
        merging.merge([one, two], out, lambda: None)
    assert (out.folder / "study.json").read_text() == before
    # a listed trial that never ran is no loss
    shutil.rmtree(out.trials_folder / FIRST["trials"][0])
    merging.merge([one, two], out, lambda: None)


def test_nothing_is_joined_if_one_study_of_a_suite_cannot_be(tmp_path: Path) -> None:
    for part in ("a", "b"):
        shard(tmp_path / "one" / part, 1, [])
    shard(tmp_path / "two" / "a", 2, [])
    out = tmp_path / "out"
    said = CliRunner().invoke(app, ["merge", str(tmp_path / "one"), str(tmp_path / "two"), "-o", str(out)])
    assert isinstance(said.exception, Mismatch)
    assert not out.exists()


def test_merge_prints_what_differs_in_the_software_of_shards(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    path = two.trials_folder / SECOND["trials"][0] / "manifest.json"
    manifest = json.loads(path.read_text())
    was, manifest["environment"]["testbed"] = manifest["environment"]["testbed"], "e" * 64
    path.write_text(json.dumps(manifest))
    out = tmp_path / "out"
    said = CliRunner().invoke(app, ["merge", str(one.folder), str(two.folder), "-o", str(out)])
    assert said.exit_code == 0
    line = f"the shards' trials differ in testbed: {was[:16]} in {one.folder}; {'e' * 16} in {two.folder}"
    assert line in said.output.splitlines()
    assert sum("differ in" in line for line in said.output.splitlines()) == 1
    # whichever trial is the last
    results = Results(out)
    for names in (TRIALS, TRIALS[::-1]):
        made = snapshot.software(results.trial(name) for name in names)
        assert made["testbed"] == "/".join(sorted((was[:16], "e" * 16)))


def test_studies_are_found_behind_links_but_not_among_what_the_doctor_moved(tmp_path: Path) -> None:
    disk, shard = tmp_path / "disk", tmp_path / "shard"
    for folder in (disk, shard / "a" / "damaged", shard / "a", shard / "damaged"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "study.json").touch()
    (shard / "part").symlink_to(disk)
    (disk / "up").symlink_to(shard)
    assert merging.places([shard]) == [Path("a"), Path("part")]
