"""The listing has every verdict with its figure, on wide and narrow terminals, and as JSON."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import pytest
from rich.console import Console

from cambrian.claims import contradictions, listing
from cambrian.claims.verdicts import judge
from tests.unit.claims.ledgers import Folder, claim, claim_test, ratio
from tests.unit.claims.test_contradictions import BETWEEN, shares

JUDGED = [
    judge(claim(claim_test(), why_differ="Other kernels."), Folder({"suite/part": ratio(1.5)})),
    judge(claim(claim_test(), id="paper-other"), Folder({})),
    judge(claim(id="more-gone", paper="more", figure="", not_available="The service is gone."), Folder({})),
]
EXPLAINED = [contradictions.explain(BETWEEN, Folder({"suite/factors": shares(20, 5, -8)}))]
SAID = ["paper-claim", "holds", "1.5 [1.", "×", "Other kernels.", "p. 1", "not run", "buffer",
        "suite/part has not been", "not available", "The service is gone.",
        "buffer moves x most", "the mean of x is 2"]  # fmt: skip


@pytest.mark.parametrize("width", [60, 200])
def test_a_block_a_claim_on_any_terminal(width: int) -> None:
    text = io.StringIO()
    listing.terminal(Console(file=text, width=width), JUDGED, EXPLAINED)
    words = " ".join(text.getvalue().split())
    for said in SAID:
        assert said in words
    assert max(len(line) for line in text.getvalue().splitlines()) <= width


def test_markdown_says_the_same() -> None:
    text = listing.markdown(JUDGED, EXPLAINED)
    for said in SAID:
        assert said in text


def test_a_verdict_on_a_part_of_the_values_says_so_in_every_form() -> None:
    partial = [judge(claim(claim_test(where={"rate": [1, 4]})), Folder({"suite/part": ratio(1.5)}))]
    text = io.StringIO()
    listing.terminal(Console(file=text, width=200), partial, [])
    assert "paper-claim  holds (only at rate = 4: no trials at 1)" in text.getvalue()
    assert "### paper-claim: holds (only at rate = 4: no trials at 1)" in listing.markdown(partial, [])
    (record,) = listing.records(partial, [])["claims"]
    assert record["note"] == record["tests"][0]["note"] == "only at rate = 4: no trials at 1"
    (figure,) = (line for label, line in listing.claim_lines(partial[0]) if label == "ours")
    assert "holds, only at rate = 4: no trials at 1, cells: 1" in figure


def test_counts_by_paper() -> None:
    assert listing.counts_by_paper(JUDGED) == [
        ("paper", [1, 0, 0, 1, 0]),
        ("more", [0, 0, 0, 0, 1]),
        ("all", [1, 0, 0, 1, 1]),
    ]


def test_json_has_every_figure() -> None:
    read = json.loads(json.dumps(listing.records(JUDGED, EXPLAINED)))
    one, other, gone = read["claims"]
    assert (one["verdict"], other["verdict"], gone["verdict"]) == ("holds", "not run", "not available")
    (test,) = one["tests"]
    assert test["low"] < test["estimate"] < test["high"]
    assert test["expect"] == {"above": 1}
    assert other["tests"][0]["estimate"] is None
    assert read["contradictions"][0]["factor"] == "buffer"


def test_json_has_no_infinite_number() -> None:
    (result,) = JUDGED[0].results
    assert result.estimate is not None
    of_a_rate = replace(result, estimate=replace(result.estimate, scale=(0.0, math.inf)))
    json.dumps(listing.records([replace(JUDGED[0], results=(of_a_rate,))], []), allow_nan=False)
