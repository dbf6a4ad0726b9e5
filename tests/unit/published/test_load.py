"""Reading comparisons: each fault names the file, the comparison, the key and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian import paths
from cambrian.published.compare import compare
from cambrian.published.load import comparisons, rows
from cambrian.study.errors import StudyError
from tests.unit.published.made import HEAD, MEASURED, SIDES, observations, paper

GOOD = HEAD + 'published = "mbps"\n' + SIDES + MEASURED
PAPERS = [path.parent for path in sorted((paths.data() / "published").glob("*/comparisons.toml"))]


def fault(folder: Path, text: str) -> str:
    made = paper(folder, text)
    with pytest.raises(StudyError) as raised:
        compare(comparisons(made)["alone"], made, observations([("quic", 4.0, 25.0, [1.0, 2.0, 3.0])]))
    said = str(raised.value)
    assert "comparisons.toml" in said
    return said


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        (
            'published = "mbps"',
            'publishd = "mbps"',
            ["8:1: publishd: of alone: unknown key", "did you mean published"],
        ),
        (
            'published = "mbps"',
            'published = "mps"',
            ["8:1: published: ", "no column mps", "did you mean mbps"],
        ),
        ('published = "mbps"', "", ["give one of them"]),
        ('"table.csv"', '"tables.csv"', ["files", "tables.csv", "did you mean table.csv"]),
        ('rate = "rate_mbps"', 'rat = "rate_mbps"', ["6:11: rat: ", "did you mean rate"]),
        (
            'rate = "rate_mbps"',
            'rate = "rat_mbps"',
            ["6:11: rate: of alone: no quantity rat_mbps", "did you mean rate_mbps", "cambrian quantities"],
        ),
        ("t = { contestant", "t = { contestent", ["13:7: contestent: of alone: no quantity contestent"]),
        ("q = {", "quic = {", ["12:1: quic: ", "q or t"]),
        ('side_column = "who"', "", ["side_column and sides"]),
        (
            'quantity = "throughput_mbps"',
            'quantity = "thruput_mbps"',
            ["17:1: quantity: of alone: no quantity", "throughput_mbps"],
        ),
        ('source = "Table 1"', "", ["1:3: source: of alone: missing", "add source"]),
        ('unit = "Mbps"', 'unit = "Mbps"\nfactor = { who = 2 }', ["factor", "who", "match"]),
        ('unit = "Mbps"', 'unit = "Mbps"\npublished_sd = "sd"', ["published_trials"]),
        (
            'published = "mbps"',
            'published = "faster"',
            ["8:1: published: ", "'yes' in column faster", "by where"],
        ),
        ("t = { contestant", "t = { contestent.x", ["13:7: x: ", "put a name with a dot in quotes"]),
        ("[[comparison]]", 'paper = "wpi"\n[[comparison]]', ["1:1: paper: unknown key", "comparison"]),
    ],
)
def test_a_fault_says_where_and_what(tmp_path: Path, old: str, new: str, parts: list[str]) -> None:
    assert old in GOOD
    said = fault(tmp_path, GOOD.replace(old, new))
    for part in parts:
        assert part in said
    assert "remedy: " in said


def test_a_name_stands_once(tmp_path: Path) -> None:
    said = fault(tmp_path, GOOD + GOOD)
    assert f":{GOOD.count(chr(10)) + 2}:1: name: of alone: this value occurs twice" in said


def test_where_that_leaves_nothing_is_a_fault(tmp_path: Path) -> None:
    assert "no published row" in fault(
        tmp_path, HEAD + "where = { rate = 99 }\n" + 'published = "mbps"\n' + MEASURED
    )


def test_rows_with_other_sides_are_left_out(tmp_path: Path) -> None:
    made = paper(tmp_path, GOOD.replace('t = { contestant = "tcp" }', ""))
    assert rows(comparisons(made)["alone"], made)["who"].to_list() == ["q", "q"]


def test_no_file_is_no_comparison(tmp_path: Path) -> None:
    assert comparisons(tmp_path) == {}


@pytest.mark.parametrize("folder", PAPERS, ids=lambda path: path.name)
def test_our_own_comparisons_fit_their_files(folder: Path) -> None:
    found = comparisons(folder)
    assert found
    for one in found.values():
        compared = compare(one, folder, None)
        assert compared.frame.height
        assert compared.frame.select(compared.keys).is_duplicated().sum() == 0
