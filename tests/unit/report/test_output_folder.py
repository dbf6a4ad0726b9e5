"""Folders that a page or the atlas may be written to: none with other files."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cambrian.cli import app
from cambrian.report import page
from cambrian.report.page import Page
from cambrian.report.suite import atlas
from tests.unit import report_results

FOLDERS = ("figures", "tables", "data", "trials")
PAGE = Page(("Cambrian report", "study", "s"), "title", ())


def write(out: Path) -> None:
    page.prepare(out, *FOLDERS)
    page.write(PAGE, out)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A person's folder, with folders of the names that a report has."""
    for name in (*FOLDERS, "figures/old"):
        (tmp_path / "project" / name).mkdir(parents=True)
        (tmp_path / "project" / name / "mine.csv").write_text("1\n")
    (tmp_path / "project" / "licences.txt").write_text("my licence\n")
    return tmp_path / "project"


def test_a_page_does_not_go_to_a_folder_with_other_files(project: Path) -> None:
    before = contents(project)
    with pytest.raises(FileExistsError, match="remedy: give a new or an empty folder"):
        write(project)
    assert contents(project) == before


def test_the_page_goes_first_and_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path)

    def interrupted(_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cambrian.report.output_folder.empty", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path)
    assert not (tmp_path / "index.html").exists()
    monkeypatch.undo()
    write(tmp_path)
    assert (tmp_path / "index.html").exists()


def test_while_a_report_is_measured_the_earlier_one_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = report_results.copy(tmp_path, report_results.as_flows)
    report_results.report(folder, folder / "report")
    before = contents(folder / "report")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    for slow in ("timelines.of", "observations", "matrix.matrix", "all_figures"):
        monkeypatch.setattr(f"cambrian.report.study_page.{slow}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            report_results.report(folder, folder / "report")
        monkeypatch.undo()
        assert contents(folder / "report") == before


@pytest.mark.parametrize("record", ["study.json", "suite.json"])
def test_a_page_does_not_go_to_a_folder_of_results(tmp_path: Path, record: str) -> None:
    write(tmp_path)
    (tmp_path / record).write_text("{}")
    (tmp_path / "tables" / "kept.csv").write_text("1\n")
    with pytest.raises(FileExistsError, match="is a folder of results"):
        write(tmp_path)
    assert (tmp_path / "tables" / "kept.csv").exists()


def test_an_earlier_page_is_replaced_also_if_it_is_unfinished(tmp_path: Path) -> None:
    out = tmp_path / "new" / "report"
    write(out)
    (out / "tables" / "old.csv").write_text("1\n")
    (out / "tables" / "notes.txt").write_text("mine")
    (out / "figures" / "mine").mkdir()
    write(out)
    assert not (out / "tables" / "old.csv").exists()
    assert (out / "tables" / "notes.txt").exists() and (out / "figures" / "mine").is_dir()
    (out / "index.html").unlink()
    write(out)
    assert (out / "index.html").exists()


def test_the_commands_refuse_before_they_measure(project: Path, tmp_path: Path) -> None:
    results = report_results.copy(tmp_path)
    before = contents(tmp_path)
    for out in (project, results):
        for words in (
            ["report", str(results), "--out", str(out)],
            ["compare", str(results), str(results), "--page", str(out)],
        ):
            ended = CliRunner().invoke(app, words)
            assert isinstance(ended.exception, FileExistsError), words
    assert contents(tmp_path) == before


def test_the_atlas_does_not_go_to_a_folder_with_other_files(project: Path, tmp_path: Path) -> None:
    (tmp_path / "results" / "wpi").mkdir(parents=True)
    (tmp_path / "results" / "wpi" / "suite.json").write_text("{}")
    (project / "README.md").write_text("# My project\n")
    before = contents(project)
    with pytest.raises(FileExistsError, match="remedy"):
        atlas.make(tmp_path / "results", project, lambda *_: None)
    assert contents(project) == before


def test_the_mark_of_a_page_stays() -> None:
    """By this line the folders of all earlier reports are known."""
    first = page.licences().partition("\n")[0]
    assert first == "page.js contains Cambrian's own code (Apache-2.0) and these libraries."
