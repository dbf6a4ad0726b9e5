"""A suite's page and the atlas, where nothing has been run yet and where something has."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from cambrian.cli import app
from cambrian.report import layout, study_page
from cambrian.report.evidence import key_of
from cambrian.report.page import MOST_ROWS
from cambrian.report.sections import Section, Statement, Table, Words
from cambrian.report.suite import atlas, markdown, page, ran
from cambrian.store.results import Results
from cambrian.study.errors import StudyError
from tests.unit import report_results

COMMAND = "cambrian run wpi --profile quick"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("results")
    (root / "wpi").mkdir()
    record = {"suite": "wpi", "parts": [], "profile": "quick", "command": COMMAND}
    (root / "wpi" / "suite.json").write_text(json.dumps(record))
    return root


def test_a_page_without_data_says_so_and_how_to_get_it(results: Path) -> None:
    text = page.write(ran.read(results / "wpi"), results / "wpi" / "report").read_text()
    assert "No part of this suite has run yet." in text
    assert "cambrian run wpi/grid --profile quick" in text
    published = pl.read_csv(next((results / "wpi" / "report" / "tables").glob("01-*.csv")))
    assert set(published["agrees"]) == {"not run"}


def test_the_page_stands_alone(results: Path) -> None:
    text = page.write(ran.read(results / "wpi"), results / "alone").read_text()
    body = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r'(?:src|href)="(?:https?:)?//', body)
    assert str(results) not in text
    for link in re.findall(r'href="([^"#]+)"', body):
        assert (results / "alone" / link).is_file()
    for anchor in re.findall(r'href="#([^"]+)"', body):
        assert f'id="{anchor}"' in body


def test_the_command_line_knows_a_suite(results: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(results / "wpi")])
    assert done.exit_code == 0, done.output
    assert (results / "wpi" / "report" / "index.html").is_file()


def test_a_folder_has_its_suites_name(results: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "suite.json").write_text((results / "wpi" / "suite.json").read_text())
    with pytest.raises(StudyError, match="rename the folder to wpi"):
        ran.read(tmp_path / "other")


def test_what_is_invalid_says_why(results: Path, tmp_path: Path) -> None:
    made = report_results.copy(tmp_path / "made", report_results.one_group)
    _, second, third = json.loads((made / "study.json").read_text())["groups"][0]["trials"]
    report_results.reject(made, second, "ended early")
    shutil.rmtree(made / "trials" / third)
    (tmp_path / "wpi").mkdir()
    made.rename(tmp_path / "wpi" / "grid")
    (tmp_path / "wpi" / "suite.json").write_text((results / "wpi" / "suite.json").read_text())
    (part,) = ran.read(tmp_path / "wpi").parts
    assert (part.valid, part.invalid, part.missing) == (1, 1, 1)
    assert part.reasons == ("4mbps-20ms-2bdp/tcp-cubic-with-tls+tcp-cubic seed 2: ended early",)


def test_a_page_says_what_its_parts_are(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`cambrian open` compares it with the parts' own reports."""
    monkeypatch.setattr(page, "sections_of", lambda _: [])
    (tmp_path / "wpi").mkdir()
    shutil.copy(results / "wpi" / "suite.json", tmp_path / "wpi")
    part = report_results.copy(tmp_path / "made").rename(tmp_path / "wpi" / "grid")
    out = tmp_path / "wpi" / "report"
    page.write(ran.read(tmp_path / "wpi"), out)
    assert study_page.made_from(out).splitlines() == [key_of(Results(part))]


def test_the_atlas_has_a_file_a_suite_and_an_index(results: Path, tmp_path: Path) -> None:
    told: list[str] = []
    index = atlas.make(results, tmp_path, lambda _done, _total, name: told.append(name))
    text = index.read_text()
    assert told == ["wpi", "index"]
    assert "[wpi](wpi.md)" in text and COMMAND in text
    assert not re.search(r"20\d\d-\d\d", text)  # no date: the same data give the same atlas
    whole = (tmp_path / "wpi.md").read_text()
    for address in re.findall(r"\]\(((?:figures|tables)/[^)]+)\)", whole):
        assert (tmp_path / address).is_file()


def test_the_atlas_needs_a_suite(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="cambrian run"):
        atlas.make(tmp_path, tmp_path / "out", lambda *_: None)


def made_section(rows: int) -> Section:
    frame = pl.DataFrame({"name": [f"a|{number}" for number in range(rows)], "value": [1.5] * rows})
    columns = [layout.text("name", "Name"), layout.plain("value", "Value", 1)]
    table = Table(layout.shown(frame, columns, "Of all", "all.csv"), frame)
    said = Statement("an-id", "doesn't hold", "A < B", lines=(("ours", "1"),), note="only at rate_mbps = 5")
    return Section("Head", "head", (Words(("Words.",)), table, said))


def test_markdown_keeps_a_short_table_open_and_folds_a_long_one() -> None:
    short = "\n".join(markdown.section(made_section(2), "figures", "tables", "x/"))
    assert "| a\\|0 | 1.5 |" in short
    assert "[CSV](tables/x/all.csv)" in short
    assert "| **doesn't hold**, only at rate\\_mbps = 5 | A &lt; B |" in short
    assert "Of all: " not in short
    long = "\n".join(markdown.section(made_section(MOST_ROWS + 1), "figures", "tables", "x/"))
    assert f"<details><summary>Of all: {MOST_ROWS + 1} rows, the first" in long
    assert long.count("| 1.5 |") == MOST_ROWS
