"""The state of results while a run writes to them."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from pathlib import Path

import pytest

from cambrian.cli import opening
from cambrian.report import evidence
from cambrian.report.evidence import key_of
from cambrian.serve import places
from cambrian.serve.progress import Progress
from cambrian.store import writing
from cambrian.store.results import Results
from tests.unit import report_results


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return report_results.copy(tmp_path)


def progress(folder: Path) -> Progress:
    return Progress(places.find([folder])[0])


def reported(folder: Path) -> list[str]:
    """A report of the trials that are there."""
    names = [path.name for path in (folder / "trials").iterdir()]
    (folder / "report" / "trials").mkdir(parents=True)
    for name in names:
        (folder / "report" / "trials" / f"{name}.json").write_text("{}")
    (folder / "report" / "made-from.txt").write_text(f"{key_of(Results(folder))}\n")
    (folder / "report" / "index.html").write_text("a report")
    return names


def test_a_run_in_progress(folder: Path) -> None:
    trials = sorted((folder / "trials").iterdir())
    for trial in trials[:4]:
        writing.remove(trial)
    with Results(folder).alone():
        began = time.time()
        # a trial each 10 s since the run began
        for number, trial in enumerate(trials[4:]):
            os.utime(trial / "verdict.json", (began, began + 10 * number))
        state = progress(folder).state()
    assert (state.asked, state.finished, state.invalid) == (12, 8, 0)
    assert state.running and state.stale and state.new == 8
    assert state.eta_s is not None and 10 <= state.eta_s <= 120


def test_no_run(folder: Path) -> None:
    state = progress(folder).state()
    assert not state.running
    assert state.eta_s is None
    assert state.since_last_s is not None and state.since_last_s >= 0


def test_looking_does_not_stop_a_run_that_starts(folder: Path) -> None:
    looking = progress(folder)
    with Results(folder).alone():
        assert looking.state().running
    with Results(folder).alone():
        assert looking.state().running
    assert not looking.state().running


def test_what_the_report_lacks(folder: Path) -> None:
    looking = progress(folder)
    assert looking.state().stale
    names = reported(folder)
    state = looking.state()
    assert not state.stale and state.new == 0
    # it finished while the report was being made
    (folder / "report" / "trials" / f"{names[0]}.json").unlink()
    assert looking.state().new == 1 and looking.state().stale


def test_a_trial_that_ran_again_after_the_report_makes_it_stale(folder: Path) -> None:
    looking = progress(folder)
    names = reported(folder)
    assert not looking.state().stale
    report_results.reject(folder, names[1], "no reason")
    state = looking.state()
    assert state.stale and state.new == 0


def test_a_copy_s_report_is_current_whatever_its_times(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that scp or git copies in order have the report's time before that of the trials."""
    looking = progress(folder)
    names = reported(folder)
    for number, path in enumerate(sorted(folder.rglob("*"))):
        os.utime(path, (time.time() + number, time.time() + number))
    state = looking.state()
    assert state.new == 0 and not state.stale
    (folder / "report" / "trials" / f"{names[0]}.json").unlink()
    state = looking.state()
    assert state.new == 1 and state.stale
    # a report of other code is out of date, and still has all other trials
    monkeypatch.setattr(evidence, "_MADE_BY", ("cambrian.source",))
    assert looking.state().new == 1


def test_a_suite_s_page_is_current_by_what_its_parts_are(folder: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    part = suite / "part"
    suite.mkdir()
    reported(folder)
    folder.rename(part)
    (suite / "report").mkdir()
    (suite / "report" / "index.html").write_text("a report")
    looking = Progress(places.Place("suite", suite, (places.Place("suite/part", part),)))
    # it does not say what it is of, as an earlier version leaves it
    assert looking.state().stale
    (suite / "report" / "made-from.txt").write_text(f"0123456789abcdef\n{key_of(Results(part))}\n")
    os.utime(part / "report" / "index.html", (time.time() + 9, time.time() + 9))
    assert not looking.state().stale
    (part / "report" / "made-from.txt").write_text("0123456789abcdef\n")
    assert looking.state().stale


def test_a_report_of_another_study_or_of_other_code_is_stale(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking = progress(folder)
    reported(folder)
    assert not looking.state().stale
    study = folder / "study.json"
    old = study.read_text()
    study.write_text(old.replace("tcp cubic with TLS", "renamed"))
    state = looking.state()
    assert state.stale and state.new == 0
    study.write_text(old)
    assert not looking.state().stale
    writing.remove(next((folder / "trials").iterdir()))
    assert looking.state().stale
    shutil.rmtree(folder / "report")
    reported(folder)
    assert not looking.state().stale
    monkeypatch.setattr(evidence, "_MADE_BY", ("cambrian.source",))
    assert progress(folder).state().stale
    monkeypatch.undo()
    # as an earlier version leaves it
    (folder / "report" / "made-from.txt").unlink()
    assert progress(folder).state().stale


def test_an_old_report_that_cannot_be_written_to_is_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[Path] = []
    monkeypatch.setattr(opening, "make_report", made.append)
    reported(folder)
    (folder / "report" / "made-from.txt").unlink()
    opening._make_if_stale(places.find([folder])[0])
    assert made == [folder]
    monkeypatch.setattr("os.access", lambda *_: False)
    opening._make_if_stale(places.find([folder])[0])
    assert made == [folder] and "out of date" in capsys.readouterr().err
    # a current report whose frames are missing is not out of date
    shutil.rmtree(folder / "report")
    reported(folder)
    shutil.rmtree(folder / "frames", ignore_errors=True)
    opening._make_if_stale(places.find([folder])[0])
    said = capsys.readouterr().err
    assert made == [folder] and "current, but the page SQL lacks" in said and "out of date" not in said
    # without a report the reader is told that it cannot be written
    writing.remove(folder / "report" / "index.html")
    opening._make_if_stale(places.find([folder])[0])
    assert made == [folder, folder]


def test_an_invalid_trial_is_counted(folder: Path) -> None:
    looking = progress(folder)
    assert looking.state().invalid == 0
    report_results.reject(folder, next(iter((folder / "trials").iterdir())).name, "no reason")
    assert looking.state().invalid == 1


def test_a_command_of_a_remedy_quotes_its_folders(tmp_path: Path) -> None:
    for name in ("before", "the new one's"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "study.json").write_text("{}")
    with pytest.raises(FileNotFoundError) as told:
        places.alone(tmp_path)
    command = str(told.value).partition("remedy: name one or more: ")[2]
    assert shlex.split(command) == ["cambrian", "open", *map(str, sorted(tmp_path.iterdir()))]


def test_the_only_results(folder: Path, tmp_path: Path) -> None:
    assert places.alone(tmp_path) == folder
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "study.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match="remedy: name one or more"):
        places.alone(tmp_path)
    with pytest.raises(FileNotFoundError, match="remedy: cambrian run"):
        places.alone(tmp_path / "missing")
