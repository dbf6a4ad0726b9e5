"""Criteria are judged in a contestant's own folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.claims import scorecard
from cambrian.study.errors import StudyError
from tests.unit.claims.ledgers import Folder, ratio

CARD = """\
[[criterion]]
id = "above"
text = "It is above b."
source = "RFC 9743, section 5"

[[criterion.test]]
says = "it over b"
part = "loss"
quantity = "throughput_mbps"
cell = ["rate_mbps"]
a = { contestant = "$CONTESTANT" }
b = { contestant = ["b", "$CONTESTANT b"] }
expect = { above = 1 }
unit = "×"

[[criterion.test]]
says = "it over b, elsewhere"
part = "aqm"
quantity = "throughput_mbps"
a = { contestant = "$CONTESTANT" }
b = { contestant = "b" }
expect = { above = 1 }
"""


@pytest.mark.parametrize(("value", "met"), [(1.5, "met"), (1.0, "inconclusive"), (0.5, "not met")])
def test_each_test_is_a_row(tmp_path: Path, value: float, met: str) -> None:
    path = tmp_path / "card.toml"
    path.write_text(CARD)
    names = {"x": "throughput_mbps", "rate": "rate_mbps"}
    whole = {"rfc9743/quinn-cubic/loss": ratio(value), "loss": ratio(9.0)}
    frames = Folder({part: frame.rename(names) for part, frame in whole.items()})
    loss, aqm = scorecard.load(path).score(frames, "rfc9743/quinn-cubic", {"$CONTESTANT": "a"})
    assert loss.verdict == met
    assert loss.figure == pytest.approx(value, rel=1e-3)
    assert (loss.criterion, loss.threshold, loss.unit, loss.says) == ("above", "above 1", "×", "it over b")
    assert (aqm.verdict, aqm.figure) == ("not run", None)
    assert loss.of_criterion == aqm.of_criterion == ("not met" if met == "not met" else "not run")


def test_placeholders_are_filled_in_not_too(tmp_path: Path) -> None:
    """Side b is every contestant other than this one."""
    path = tmp_path / "card.toml"
    names = {"x": "throughput_mbps", "rate": "rate_mbps"}
    frames = Folder({"s/loss": ratio(1.5).rename(names)})
    for other in ('"$CONTESTANT"', '["$CONTESTANT", "c"]'):
        path.write_text(CARD.replace('["b", "$CONTESTANT b"]', f"{{ not = {other} }}"))
        row, _ = scorecard.load(path).score(frames, "s", {"$CONTESTANT": "a", "$CON": "c"})
        assert row.figure == pytest.approx(1.5, rel=1e-3)


def test_faults_are_named(tmp_path: Path) -> None:
    path = tmp_path / "card.toml"
    path.write_text(CARD.replace('source = "RFC 9743, section 5"\n', ""))
    with pytest.raises(StudyError, match=r"source: of above: missing"):
        scorecard.load(path)
    path.write_text(CARD + CARD)
    with pytest.raises(StudyError, match="occurs twice"):
        scorecard.load(path)
    path.write_text('[[criterion]]\nid = "a"\ntext = "t"\nsource = "s"\n')
    with pytest.raises(StudyError, match="test"):
        scorecard.load(path)
