"""A suite's sections and evidence → the page's sections."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from cambrian.report.figures.figure import Figure
from cambrian.report.sections import Commands, Section, Table, Words, every
from cambrian.report.suite import build
from cambrian.report.suite.build import Subject
from cambrian.report.suite.sections import sections
from cambrian.study.errors import StudyError
from tests.unit.report.suite.made import FIGURES, HEAT, LINES, Frames, observations, section, subject


def built(folder: Path, text: str, frame: pl.DataFrame | None = None) -> Section:
    (found,) = build.built(subject(folder), sections(section(folder, text), ()), Frames(frame))
    return found


def figure_of(folder: Path, text: str, frame: pl.DataFrame | None = None) -> Figure:
    (found,) = every(Figure, built(folder, text, frame).pieces)
    return found


def test_a_heat_map_holds_each_cells_effect(tmp_path: Path) -> None:
    figure = figure_of(tmp_path, HEAT)
    found = dict(zip(figure.data["loss_percent"], figure.data["effect"], strict=True))
    expected = {loss: FIGURES["quic"][loss] / FIGURES["tcp"][loss] for loss in (0.0, 1.0, 2.0)}
    assert found == pytest.approx(expected)
    spec = figure.panels[0].spec()
    assert figure.svg([spec]).startswith("<svg")


def test_what_is_not_significant_is_faint_and_in_parentheses(tmp_path: Path) -> None:
    noise = {1: -0.3, 2: 0.3, 3: -0.1, 4: 0.1}
    frame = observations().with_columns(
        pl.when((pl.col("contestant") == "quic") & (pl.col("loss_percent") == 2))
        .then(1.0 + pl.col("seed").replace_strict(noise))
        .otherwise("payload_mbps")
        .alias("payload_mbps")
    )
    figure = figure_of(tmp_path, HEAT, frame)
    drawn = str(figure.panels[0].spec())
    assert "(1.00)" in drawn
    assert "(2.50)" not in drawn and "2.50" in drawn


SHARES = """
[section.heat]
part = "made/grid"
quantity = "share_percent"
title = "Share (%)"
digits = 0
x = "against"
y = "contestant"
"""


def test_a_map_of_shares_is_tested_against_an_equal_one_and_its_diagonal_is_not(tmp_path: Path) -> None:
    """quic takes 70 % from tcp, and sometimes from other; whoever meets itself has half by construction."""
    splits = {
        # fewer trials are won by one of two equal flows by chance
        ("quic", "tcp"): [69.0, 70.0, 71.0, 70.0, 69.5, 70.5, 71.0, 69.0],
        ("quic", "other"): [30.0, 80.0, 55.0, 60.0],
        ("tcp", "other"): [50.0, 50.5, 49.5, 50.2],
        ("quic", "quic"): [61.0, 58.0, 64.0, 61.0],
    }
    rows = [
        {
            "trial": f"{x}-{y}-{seed}",
            "seed": seed,
            "flow": flow,
            "flows": 2,
            "design": "pairwise",
            "contestant": (x, y)[flow],
            "against": (x, y)[1 - flow],
            "share_percent": share if flow == 0 else 100 - share,
        }
        for (x, y), shares in splits.items()
        for seed, share in enumerate(shares)
        for flow in (0, 1)
    ]
    figure = figure_of(tmp_path, SHARES, pl.DataFrame(rows))
    found = {(one["contestant"], one["against"]): one for one in figure.data.to_dicts()}
    assert found["quic", "tcp"]["state"] == found["tcp", "quic"]["state"] == "different"
    assert found["quic", "other"]["state"] == "inconclusive"
    assert found["tcp", "other"]["state"] == "equivalent"
    diagonal = found["quic", "quic"]
    assert (diagonal["effect"], diagonal["state"], diagonal["p"]) == (50, None, None)
    tested = figure.data.drop_nulls("p")
    assert (tested["p_bh"] >= tested["p"]).all() and tested.height == 6
    drawn = str(figure.panels[0].spec())
    assert "(56)" in drawn and "(50)" not in drawn
    assert "not tested" in figure.caption


def test_lines_have_theory_for_kernel_tcp_alone(tmp_path: Path) -> None:
    plain = figure_of(tmp_path, LINES)
    assert set(plain.data["series"]) == {"quic", "tcp"}
    figure = figure_of(tmp_path, LINES + "theory = true\n")
    assert set(figure.data["series"]) == {"quic", "tcp", "Mathis", "RFC 9438"}
    limit = 4 * 1448 / 1514
    clean = figure.data.filter((pl.col("series") == "Mathis") & (pl.col("loss_percent") == 0))
    assert clean["effect"].to_list() == pytest.approx([limit])
    assert figure.svg([panel.spec() for panel in figure.panels]).startswith("<svg")


def test_a_figure_says_where_transfers_were_not_complete(tmp_path: Path) -> None:
    text = HEAT.replace("payload_mbps", "fetch_mbps")
    late = pl.when((pl.col("loss_percent") == 2) & (pl.col("contestant") == "tcp")).then(3).otherwise(0)
    frame = observations().with_columns(
        fetch_mbps="payload_mbps",
        not_complete=late,
        flow=0,
        page=None,
        group=pl.format("{}/{}", "loss_percent", "contestant"),
    )
    figure, words = built(tmp_path, text, frame).pieces
    assert isinstance(figure, Figure) and isinstance(words, Words)
    assert figure.data["loss_percent"].to_list() == [0.0, 1.0]
    assert words.texts[0].startswith("No value in 1 cell: not all transfers or page loads there were ")
    (nothing,) = built(tmp_path, text, frame.filter(pl.col("loss_percent") == 2)).pieces
    assert isinstance(nothing, Commands) and nothing.why.startswith("No figure: fetch_mbps has no mean")


def test_a_figure_says_where_the_groups_share_no_seed(tmp_path: Path) -> None:
    tcp_at_2 = (pl.col("loss_percent") == 2) & (pl.col("contestant") == "tcp")
    frame = observations().with_columns(group=pl.when(tcp_at_2).then("seed").otherwise(0))
    figure, words = built(tmp_path, HEAT, frame).pieces
    assert isinstance(figure, Figure) and figure.data["loss_percent"].to_list() == [0.0, 1.0]
    assert words == Words(
        ("No value in 1 cell: no seed has a value in each group and trial there.",), found=True
    )
    (nothing,) = built(tmp_path, HEAT, frame.filter(pl.col("loss_percent") == 2)).pieces
    said = "No figure: no seed has payload_mbps in each of its trials and groups."
    assert nothing == Commands((), said)


def test_a_part_that_has_not_been_run_says_what_runs_it(tmp_path: Path) -> None:
    (missing,) = built(tmp_path, HEAT.replace("made/grid", "made/other")).pieces
    assert missing == Commands(("cambrian run made/other --profile quick",), "Not run.")


def test_a_side_without_trials_is_not_run(tmp_path: Path) -> None:
    (missing,) = every(Commands, built(tmp_path, HEAT.replace('"tcp"', '"sctp"')).pieces)
    assert "side b" in missing.why


def test_the_command_names_the_contestant() -> None:
    of_one = Subject(
        "rfc", Path("suite.toml"), None, None, {"rfc/quinn-bbr": {"$STACK": "quinn", "$CCA": "bbr"}}
    )
    assert of_one.command("rfc/quinn-bbr/aqm") == "cambrian run rfc/aqm --contestant quinn/bbr"


def test_a_column_that_is_not_there_is_a_fault_with_its_section(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as raised:
        built(tmp_path, HEAT.replace('y = "rate_mbps"', 'y = "rat_mbps"'))
    assert "What was found" in str(raised.value) and "did you mean rate_mbps" in str(raised.value)


def test_a_table_shows_rows_as_they_are(tmp_path: Path) -> None:
    text = '[section.table]\npart = "made/grid"\ncolumns = ["seed", "payload_mbps"]\n'
    text += 'where = { contestant = "tcp", loss_percent = 2 }\n'
    (table,) = every(Table, built(tmp_path, text).pieces)
    assert table.shown.headings == ("Seed", "Payload throughput (Mbps)")
    assert table.shown.rows[0] == ("1", "0.96")


def test_words_become_paragraphs(tmp_path: Path) -> None:
    found = built(tmp_path, 'text = """\nOne\nline.\n\nTwo.\n"""')
    assert found.pieces == (Words(("One line.", "Two.")),)
    assert found.anchor == "what-was-found"
