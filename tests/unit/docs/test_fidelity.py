"""The page on fidelity has the figures of the pages that it is about."""

from __future__ import annotations

import re
from collections import Counter

import polars as pl
import pytest

from cambrian.stacks import catalogue
from tests.unit.docs.pages import DOCS

PAGE = " ".join((DOCS / "explanation/fidelity.md").read_text(encoding="utf-8").split())
_NUMBERS = {"one": 1}


def _figures(pattern: str) -> list[float]:
    found = re.search(pattern, PAGE)
    assert found, pattern
    return [float(_NUMBERS.get(one, one)) for one in found.groups()]


def test_the_verdicts_are_the_atlas_s() -> None:
    counts: Counter[str] = Counter()
    for page in sorted((DOCS / "results/atlas").glob("*.md")):
        for line in re.findall(r"^\d+ claims: (.*)\.$", page.read_text(encoding="utf-8"), re.MULTILINE):
            for number, verdict in re.findall(r"(\d+) ([a-z' ]+)", line):
                counts[verdict] += int(number)
    said = _figures(
        r"Of the (\d+) claims (\d+) hold, (\d+) do not, (\d+) are inconclusive .*? and (one) cannot be judged"
    )
    verdicts = ("holds", "doesn't hold", "inconclusive", "not available")
    assert said == [counts.total(), *(counts[one] for one in verdicts)]


PROOF = (DOCS / "reference/stacks.md").read_text(encoding="utf-8").partition("## Proof")[2]


def test_the_stacks_proof_is_the_table_s() -> None:
    rows = re.findall(r"^\|.*\| (passes|passes, with a cause: .*|fails.*) \|$", PROOF, re.MULTILINE)
    proof = [row for row in rows if not row.startswith("fails")]
    with_cause = sum(row != "passes" for row in proof)
    assert _figures(r"all (\d+) implementations of \d+ stacks passed, (\d+) of them with a cause") == [
        len(proof),
        with_cause,
    ]


def test_the_stacks_proof_names_what_is_newer_than_it() -> None:
    rows = set(re.findall(r"^\| (\S+) \| (\S+) \| [\d.]+% \|", PROOF, re.MULTILINE))
    today = {(name, cca) for name, stack in catalogue.load().items() for cca in stack.manifest.ccas}
    prose = PROOF.partition("\n|")[0]
    assert rows <= today
    assert {cca for _, cca in today - rows} == set(re.findall(r"`([a-z\d.-]+)`", prose))
    assert f"Today there are {len(today)}." in " ".join(prose.split())


@pytest.mark.parametrize(
    ("atlas", "pattern"),
    [
        ("atlas", r"ours are ([\d.]+) to ([\d.]+) times theirs in the \[atlas\]"),
        ("atlas-full", r"and ([\d.]+) to ([\d.]+) times in \[the full grid\]"),
    ],
)
def test_kernel_tcp_s_ratios_to_2017_are_the_tables(atlas: str, pattern: str) -> None:
    table = DOCS / f"results/{atlas}/tables/wpi/01-tables-4-1-to-4-4-one-flow-alone.csv"
    ratios = pl.read_csv(table).filter((pl.col("side") == "tcp") & pl.col("ratio").is_not_null())
    with_loss = ratios.filter(pl.col("loss_percent") > 0)["ratio"]
    assert _figures(pattern) == [round(with_loss.min(), 2), round(with_loss.max(), 2)]  # type: ignore[arg-type]
    without = ratios.filter(pl.col("loss_percent") == 0)["ratio"]
    (percent,) = _figures(r"figures of 2017 are reproduced within (\d+) %")
    assert 100 * float((without - 1).abs().max()) <= percent  # type: ignore[arg-type]
