"""What the papers say: every table has its sources, every claim its place."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path

import pytest

PUBLISHED = Path(__file__).parents[2] / "published"
TABLES = sorted(PUBLISHED.glob("*/*.csv"))
PAPERS = ["beta", "long-look", "loss-recovery", "quicbench", "wpi"]


def test_every_paper_has_tables_claims_and_a_page() -> None:
    for paper in PAPERS:
        names = {path.name for path in (PUBLISHED / paper).iterdir()}
        assert {"README.md", "claims.toml"} <= names
        assert any(name.endswith(".csv") for name in names)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_each_row_says_where_it_comes_from(path: Path) -> None:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    for row in rows:
        assert None not in row, "more fields than the head has"
        assert row["source"]


def test_claims_have_an_identity_a_text_and_a_source() -> None:
    names = []
    for paper in PAPERS:
        for claim in tomllib.loads((PUBLISHED / paper / "claims.toml").read_text())["claim"]:
            assert claim["text"]
            assert claim["source"]
            names.append((paper, claim["id"]))
    assert len(names) == len(set(names))
