"""Evidence: frames kept beside the results, never longer than what they are of."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl
import pytest

from cambrian import source
from cambrian.report import evidence
from cambrian.report.evidence import Evidence
from cambrian.store import sums, writing
from cambrian.store.reading import Damaged
from tests.unit import report_results

PART = "suite/part"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Results of one part of one suite: a group of three trials."""
    folder = report_results.copy(tmp_path / "made", report_results.one_group)
    (tmp_path / "results" / "suite").mkdir(parents=True)
    shutil.move(folder, tmp_path / "results" / PART)
    return tmp_path / "results"


def trials(root: Path) -> list[str]:
    data = json.loads((root / PART / "study.json").read_text())
    return [str(name) for name in data["groups"][0]["trials"]]


def frames(root: Path) -> list[Path]:
    return list((root / PART / "frames").glob("*/observations/observations.parquet"))


def test_what_was_run_is_read_once(root: Path) -> None:
    first = Evidence(root).frame(PART)
    assert first is not None
    assert set(first["trial"]) == set(trials(root))
    (kept,) = frames(root)
    pl.DataFrame({"trial": ["kept"]}).write_parquet(kept)
    sums.write(kept.parent)
    again = Evidence(root).frame(PART)
    assert again is not None
    assert again["trial"].to_list() == ["kept"]


def test_removing_a_trial_changes_the_answer(root: Path) -> None:
    evidence, gone = Evidence(root), trials(root)[0]
    whole = evidence.frame(PART)
    shutil.rmtree(root / PART / "trials" / gone)
    less = evidence.frame(PART)
    assert whole is not None and less is not None
    assert set(whole["trial"]) - set(less["trial"]) == {gone}
    assert len(frames(root)) == 1


def test_a_trial_that_runs_again_under_its_identity_changes_the_answer(root: Path) -> None:
    evidence, name = Evidence(root), trials(root)[0]
    verdict = root / PART / "trials" / name / "verdict.json"
    valid = verdict.read_text()
    report_results.reject(root / PART, name, "too little CPU time")
    less = evidence.frame(PART)
    verdict.write_text(valid)
    whole = evidence.frame(PART)
    assert less is not None and whole is not None
    assert set(whole["trial"]) - set(less["trial"]) == {name}
    assert len(frames(root)) == 1


def test_a_report_replaces_whole_frames_that_are_not_its_own(root: Path) -> None:
    evidence = Evidence(root)
    evidence.collected(PART)
    (kept,) = frames(root)
    own = kept.read_bytes()
    pl.DataFrame({"trial": ["kept"]}).write_parquet(kept)
    sums.write(kept.parent)
    evidence.collected(PART)
    assert kept.read_bytes() == own


def test_another_name_in_the_study_changes_the_answer(root: Path) -> None:
    evidence = Evidence(root)
    evidence.frame(PART)
    path = root / PART / "study.json"
    path.write_text(path.read_text().replace("tcp cubic with TLS", "renamed"))
    found = evidence.frame(PART)
    assert found is not None
    assert "renamed" in found["contestant"].to_list()


def test_a_report_leaves_the_frames_that_are_made_without_it(root: Path) -> None:
    def kept() -> dict[str, pl.DataFrame]:
        return {
            path.relative_to(root).as_posix(): pl.read_parquet(path)
            for path in (root / PART / "frames").rglob("*.parquet")
        }

    evidence = Evidence(root)
    _, tables = evidence.collected(PART)
    left = kept()
    assert len(left) == 1 + len(tables)
    shutil.rmtree(root / PART / "frames")
    evidence.frame(PART)
    evidence.frame(PART, next(iter(tables)))
    anew = kept()
    assert left.keys() == anew.keys()
    assert all(left[name].equals(anew[name]) for name in left)


def test_observations_during_a_run_leave_the_frames_of_the_last_report(tmp_path: Path) -> None:
    def written(key: str, *names: str) -> None:
        for name in names:
            evidence._write({name: pl.DataFrame({"of": [key]})}, tmp_path / "frames" / key / name)

    written("report", "observations", "tables")
    written("during", "observations")
    written("later", "observations")
    assert {path.name for path in (tmp_path / "frames").iterdir()} == {"report", "later"}
    assert Evidence(tmp_path).kept()["observations"]["of"].to_list() == ["report"]
    written("later", "tables")
    assert [path.name for path in (tmp_path / "frames").iterdir()] == ["later"]


def test_results_that_cannot_be_written_to_keep_no_frames(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*_: object, **__: object) -> str:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("tempfile.mkdtemp", read_only)
    evidence = Evidence(root)
    observed = evidence.frame(PART)
    assert observed is not None
    assert set(observed["trial"]) == set(trials(root))
    _, tables = evidence.collected(PART)
    assert list(evidence.tables(PART)) == list(tables)
    assert not frames(root)


@pytest.mark.parametrize("when", ["after they are written", "while they are written", "while they are read"])
def test_frames_that_another_reader_removes_are_seen_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """As while a run adds trials: another reader has another key, and removes the frames of this one."""
    write, write_parquet, damage = evidence._write, pl.DataFrame.write_parquet, sums.damage

    def removed() -> None:
        shutil.rmtree(root / PART / "frames", ignore_errors=True)

    def written(frames: Mapping[str, pl.DataFrame], folder: Path) -> None:
        write(frames, folder)
        removed()

    def writing(frame: pl.DataFrame, file: Path) -> None:
        removed()
        write_parquet(frame, file)

    def whole(folder: Path, store: Path) -> Iterator[Damaged]:
        yield from damage(folder, store)
        removed()

    if when == "after they are written":
        monkeypatch.setattr(evidence, "_write", written)
    elif when == "while they are written":
        monkeypatch.setattr(pl.DataFrame, "write_parquet", writing)
    else:
        Evidence(root).frame(PART)
        monkeypatch.setattr(sums, "damage", whole)
    found = Evidence(root).frame(PART)
    assert found is not None
    assert set(found["trial"]) == set(trials(root))


def test_a_report_of_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no finished trial yet"):
        Evidence(tmp_path).collected("suite/part")


def test_frames_are_read_in_a_folder_whose_name_is_not_utf_8(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / os.fsdecode(b"res\xff")
    shutil.copytree(root, place)
    made = Evidence(place).frame(PART)
    assert made is not None
    monkeypatch.setattr(evidence, "_frames", lambda *_: pytest.fail("measured again"))
    again = Evidence(place).frame(PART)
    assert again is not None and made.equals(again)


def test_a_full_disk_is_named_with_the_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writing, "write_parquet", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*/frames/") as error:
        Evidence(root).frame(PART)
    assert error.value.errno == errno.ENOSPC


def test_frames_can_be_removed(root: Path) -> None:
    evidence = Evidence(root)
    first = evidence.frame(PART)
    shutil.rmtree(root / PART / "frames")
    again = evidence.frame(PART)
    assert first is not None and again is not None
    assert first.equals(again)


def test_an_invalid_trial_is_no_observation(root: Path) -> None:
    report_results.reject(root / PART, trials(root)[0], "too slow")
    found = Evidence(root).frame(PART)
    assert found is not None
    assert set(found["trial"]) == set(trials(root)[1:])


def test_tables_of_the_report(root: Path) -> None:
    evidence = Evidence(root)
    flows = evidence.frame(PART, "flows")
    assert flows is not None
    assert "throughput_mbps_low" in flows.columns
    assert evidence.frame(PART, "page_loads") is None
    with pytest.raises(ValueError, match="no table flow:"):
        evidence.frame(PART, "flow")


def test_what_was_not_run_is_none(root: Path, tmp_path: Path) -> None:
    assert Evidence(root).frame("suite/other") is None
    assert Evidence(tmp_path / "nowhere").frame(PART) is None
    shutil.rmtree(root / PART / "trials")
    assert Evidence(root).frame(PART) is None


def test_parts_of_suites(root: Path, tmp_path: Path) -> None:
    assert Evidence(root).parts() == [PART]
    shutil.copytree(root / PART, root / "rfc9743" / "quinn-cubic" / "depths")
    shutil.copytree(root / PART, root / "single")
    assert Evidence(root).parts() == ["rfc9743/quinn-cubic/depths", PART]
    assert Evidence(tmp_path / "nowhere").parts() == []


def test_the_source_is_that_which_is_imported() -> None:
    names = {
        path.as_posix().rpartition("/cambrian/")[2] for path in source.files(["cambrian.report.observations"])
    }
    assert {"measure/measuring.py", "report/observations/players.py", "metrics/states/infer.py"} <= names
    assert "judging/references.toml" in names
    # found at run time, by their names
    assert {"metrics/parameters/pacing.py", "probes/falls.py", "probes/probes.toml"} <= names
    assert "cli.py" not in names
    assert not any(name.startswith("report/figures/") for name in names)
    with pytest.raises(ModuleNotFoundError, match="no module cambrian"):
        source.files(["cambrian.nothing"])
