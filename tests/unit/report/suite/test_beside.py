"""The words below a comparison fit what is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.published.compare import compare
from cambrian.published.load import comparisons
from cambrian.report.sections import Words
from cambrian.report.suite import beside
from tests.unit.published.made import HEAD, MEASURED, observations, paper

SHARE = MEASURED + 'cell = ["rtt_ms"]\nover = "share"\nthreshold = 0.5\n'
SIGN = MEASURED + 'a = { contestant = "quic" }\nb = { contestant = "tcp" }\neffect = "difference"\n'


@pytest.mark.parametrize(
    ("text", "means"),
    [
        (
            'published = "most"\n' + SHARE,
            "Inconclusive: our interval has every value that is possible, or ours is the count",
        ),
        ('published_sign = "faster"\n' + SIGN, "Inconclusive: only part of our interval is on the published"),
    ],
)
def test_inconclusive_is_explained(tmp_path: Path, text: str, means: str) -> None:
    made = paper(tmp_path, HEAD + text, "rate,delay,most,faster,source\n4,,50,yes,row 1\n")
    seen = observations([(who, 4.0, rtt, [0.1, 0.5, 0.7]) for who in ("quic", "tcp") for rtt in (10.0, 20.0)])
    found = compare(comparisons(made)["alone"], made, seen)
    pieces = beside.content(found, seen, "x", {}, with_theory=False)
    (words,) = next(piece for piece in pieces if isinstance(piece, Words)).texts
    assert means in words


def test_a_published_figure_has_the_digits_of_its_paper(tmp_path: Path) -> None:
    """4 was "4.00", beside "4.19" and "inside"; a figure with an interval has the comparison's digits."""
    text = HEAD + 'published = "mbps"\npublished_sd = "sd"\npublished_trials = "runs"\n' + MEASURED
    rows = "4,25,4,,,row 1\n4,50,4.0,,,row 2\n8,25,0.125,,,row 3\n8,50,7,1,5,row 4\n"
    made = paper(tmp_path, text, "rate,delay,mbps,sd,runs,source\n" + rows)
    seen = observations([("a", 4.0, 25.0, [4.1, 4.2, 4.3])])
    found = compare(comparisons(made)["alone"], made, seen)
    table = beside._table(found, "x.csv", {})
    place = next(i for i, one in enumerate(table.headings) if one.startswith("Published"))
    assert [row[place] for row in table.rows] == ["4", "4.0", "0.12", "7.00 [5.76, 8.24]"]
