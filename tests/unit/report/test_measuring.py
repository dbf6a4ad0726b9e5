"""A trial is measured once: until its files, the question or the code change."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cambrian import source
from cambrian.measure import measuring as one_trial
from cambrian.report import kept, measuring
from cambrian.report.measuring import Task
from tests.unit import report_results


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    """A committed trial's copy, with an empty cache."""
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path / "cache"))
    first = sorted((report_results.KNOBS / "trials").iterdir())[0]
    folder = Path(shutil.copytree(first, tmp_path / "results" / first.name))
    return Task("group", folder, False, (), (), None)


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that are measured from here on."""
    measured: list[Path] = []
    measure = one_trial.measure

    def counted(result: Any, **more: Any) -> Any:
        measured.append(result.folder)
        return measure(result, **more)

    monkeypatch.setattr(one_trial, "measure", counted)
    return measured


def measured(task: Task) -> Any:
    return measuring.measure_all([task])["group", task.folder.name]


def test_a_trial_is_measured_once(task: Task, count: list[Path]) -> None:
    first, again = measured(task), measured(task)
    assert len(count) == 1
    assert first.flows == again.flows
    assert first.id == again.id


def test_a_copy_of_the_folder_is_not_measured_again(task: Task, count: list[Path], tmp_path: Path) -> None:
    measured(task)
    copy = Path(shutil.copytree(task.folder, tmp_path / "other" / task.folder.name))
    assert measured(replace(task, folder=copy)).folder == copy
    assert len(count) == 1


def test_another_question_is_measured(task: Task, count: list[Path]) -> None:
    measured(task)
    assert measured(replace(task, measured_from_s=3.0)).t0_ns == 3_000_000_000
    assert len(count) == 2


@pytest.mark.parametrize("name", ["packets.parquet", "manifest.json"])
def test_changed_files_are_measured(task: Task, count: list[Path], name: str) -> None:
    measured(task)
    path = task.folder / name
    state = path.stat()
    if name == "manifest.json":
        # the same length at the same time: its text counts
        path.write_text(path.read_text().replace('"cubic"', '"CUBIC"'))
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    else:
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    measured(task)
    assert len(count) == 2


def test_other_code_measures_again(task: Task, count: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    measured(task)
    monkeypatch.setattr(source, "fingerprint", lambda *_: "of other code")
    measured(task)
    assert len(count) == 2


def test_what_cannot_be_read_is_measured_again(
    task: Task, count: list[Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    measured(task)
    (entry,) = (tmp_path / "cache").rglob("output.pkl")
    entry.write_bytes(b"broken")
    measured(task)
    assert len(count) == 2
    assert not caplog.records


def test_a_full_cache_is_emptied_at_most_once_a_day(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "_MOST_BYTES", 0)

    def entries() -> int:
        return len(list((tmp_path / "cache").rglob("output.pkl")))

    measured(task)
    measured(replace(task, measured_from_s=3.0))
    assert entries() == 2
    stamp = tmp_path / "cache" / "measures" / "trimmed"
    yesterday = time.time() - 25 * 3600
    os.utime(stamp, (yesterday, yesterday))
    measured(replace(task, measured_from_s=4.0))
    # what was emptied is made again if the caller still wants it
    assert entries() == 1


def test_nothing_is_kept_in_the_results(task: Task) -> None:
    """A results folder may come from a stranger, and a pickle is a program."""
    before = sorted(path.name for path in task.folder.rglob("*"))
    measured(task)
    assert sorted(path.name for path in task.folder.rglob("*")) == before
    assert list(task.folder.parent.iterdir()) == [task.folder]
