"""What the papers say: every table has its sources, every claim its place and its test."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cambrian.claims import load
from cambrian.claims.model import Claim

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "published"
TABLES = sorted(PUBLISHED.glob("*/*.csv"))
PAPERS = ["beta", "long-look", "loss-recovery", "quicbench", "wpi"]
LEDGER = load.load()


def test_every_paper_has_tables_claims_and_a_page() -> None:
    assert {claim.paper for claim in LEDGER.claims} == set(PAPERS)
    for paper in PAPERS:
        names = {path.name for path in (PUBLISHED / paper).iterdir()}
        assert "README.md" in names
        assert any(name.endswith(".csv") for name in names)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_each_row_says_where_it_comes_from(path: Path) -> None:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    for row in rows:
        assert None not in row, "more fields than the head has"
        assert row["source"]


@pytest.mark.parametrize("claim", LEDGER.claims, ids=lambda claim: claim.id)
def test_each_claim_says_how_it_is_judged(claim: Claim) -> None:
    assert claim.tests or claim.not_available, "say how it is judged: a [[claim.test]], or not_available"
    assert claim.id.startswith(f"{claim.paper}-")
    assert claim.why_differ or claim.not_available


def test_each_test_is_of_a_part_that_a_suite_has() -> None:
    parts = {test.part for claim in LEDGER.claims for test in claim.tests}
    parts |= {one.part for one in LEDGER.contradictions}
    missing = [part for part in sorted(parts) if not (ROOT / "studies" / f"{part}.toml").is_file()]
    assert not missing
