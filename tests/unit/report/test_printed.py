"""`cambrian table` in any width and through a pipe: nothing is cut, and a label is text."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

from cambrian.cli import app
from cambrian.cli.reading import WIDEST
from cambrian.report import printed
from cambrian.report.evidence import Evidence
from tests.unit.report_results import copy

FRAME = pl.DataFrame(
    {
        "network": ["20mbps-50ms-1bdp", "another"],
        "contestant": ["cubic [beta=0.7] [/red]", "b|c <i>"],
        "throughput_mbps": [10.123, 9.5],
        "throughput_mbps_low": [10.11, None],
        "throughput_mbps_high": [10.13, None],
        **{f"a_long_name_of_a_column_{number}": [number, number * 1000] for number in range(9)},
    }
)
COLUMNS = [name for name in FRAME.columns if not name.endswith(("_low", "_high"))]


def shown(width: int | None, columns: list[str] = COLUMNS) -> str:
    console = Console(width=width or WIDEST)
    with console.capture() as text:
        for table in printed.terminal(FRAME, columns, width):
            console.print(table)
    return text.get()


@pytest.mark.parametrize("width", [44, 60, 80, 200, None])
def test_no_column_and_no_figure_is_cut(width: int | None) -> None:
    text = shown(width)
    assert "…" not in text
    if width:
        assert max(map(len, text.splitlines())) <= width
    assert {*COLUMNS} <= {*text.split()}
    assert "[10.11," in text and "10.13]" in text
    # the first column is in each of the tables
    assert text.count("another") == text.count("network")


def test_a_pipe_gets_one_table() -> None:
    assert shown(None).count("network") == 1


def test_a_label_that_looks_like_markup_is_text() -> None:
    assert "cubic [beta=0.7] [/red]" in shown(None)


def test_markdown_keeps_its_columns() -> None:
    head, _, *rows = printed.markdown(FRAME, COLUMNS[:2]).splitlines()
    assert rows[1] == "| another | b\\|c &lt;i&gt; |"
    assert head == "| network | contestant |"


def table(tmp_path: Path, *words: str) -> str:
    answer = CliRunner().invoke(app, ["table", str(copy(tmp_path)), *words])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_a_table_without_rows_says_so(tmp_path: Path) -> None:
    assert table(tmp_path, "invalid") == "no rows\n"


def test_a_wrong_name_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Evidence, "tables", lambda _: pytest.fail("the tables were made"))
    answer = CliRunner().invoke(app, ["table", str(copy(tmp_path)), "flow"])
    assert answer.exit_code == 2
    assert "no table flow; did you mean flows?" in answer.output


def test_a_pipe_gets_whole_headings(tmp_path: Path) -> None:
    text = table(tmp_path, "flows", "--wide")
    assert {"throughput_mbps_low", "utilisation_percent"} <= {*text.split()}


def test_a_column_counts_once(tmp_path: Path) -> None:
    head = table(tmp_path, "flows", "--columns", "network,network", "--csv").partition("\n")[0]
    assert head == "network"


def test_csv_has_columns_without_a_value(tmp_path: Path) -> None:
    head = table(tmp_path, "flows", "--csv").partition("\n")[0].split(",")
    assert {"completion_s", "throughput_mbps"} <= {*head}
