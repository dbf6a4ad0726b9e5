"""A ledger is read whole, or its first fault is named with file, line, claim, key and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.claims.load import load
from cambrian.study.errors import StudyError

GOOD = """\
[[claim]]
id = "p-one"
paper = "p"
text = "A is above b."
source = "Table 1"
figure = "2"
why_differ = "Other kernels."

[[claim.test]]
says = "a over b"
part = "p/grid"
quantity = "x"
where = { loss = { at_least = 0.5 }, "option.beta" = [0.6, 0.7] }
cell = ["rate"]
a = { contestant = "a" }
b = { contestant = "b" }
expect = { above = 1 }

[[claim]]
id = "p-two"
paper = "p"
text = "Not to be had."
source = "Table 2"
figure = ""
not_available = "Their service is gone."

[[contradiction]]
id = "c"
claims = ["p-one", "p-two"]
text = "They disagree."
part = "p/grid"
quantity = "x"
factors = ["rate"]

[[reason]]
id = "kernels"
text = "Theirs is Linux 3.13."

[[reason]]
id = "machines"
text = "Theirs was slow."
"""


def _load(tmp_path: Path, text: str) -> StudyError:
    path = tmp_path / "claims.toml"
    path.write_text(text)
    with pytest.raises(StudyError) as caught:
        load(path)
    assert caught.value.file == str(path)
    return caught.value


def test_a_whole_ledger(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(GOOD)
    ledger = load(path)
    test = ledger.claims[0].tests[0]
    assert (test.kind, test.summary, test.part) == ("ratio", "geometric_mean", "p/grid")
    assert test.where["option.beta"] == (0.6, 0.7)
    assert ledger.claims[1].not_available
    assert ledger.contradictions[0].factors == ("rate",)


@pytest.mark.parametrize(
    ("good", "bad", "key", "line", "said"),
    [
        ('quantity = "x"', 'quantiti = "x"', "quantiti", 12, "did you mean quantity"),
        ('figure = "2"\n', "", "figure", 1, "missing"),
        ('why_differ = "Other kernels."', "why_differ = 3", "why_differ", 7, "string"),
        ("above = 1 }", 'above = "1" }', "above", 17, "number"),
        ("above = 1 }", "over = 1 }", "over", 17, "above"),
        ("at_least = 0.5 }", "at_least = [1] }", "at_least", 13, "give a number"),
        ("{ at_least = 0.5 }", "1979-05-27", "loss", 13, "at_least, at_most"),
        ("{ at_least = 0.5 }", "{}", "loss", 13, "give at_least"),
        ("above = 1 }", "above = 1, below = 2 }", "expect", 17, "give one of"),
        ("at_least = 0.5", "least = 0.5", "least", 13, "did you mean at_least?"),
        ('"option.beta"', "option.beta", "beta", 13, "stands in quotes"),
        ('cell = ["rate"]', 'cell = ["rate"]\nover = "share"', "test", 9, "needs threshold"),
        ('id = "p-two"', 'id = "p-one"', "id", 20, "there twice"),
        ('claims = ["p-one", "p-two"]', 'claims = ["p-one", "p-tow"]', "claims", 29, "did you mean p-two"),
        ("[[contradiction]]", "[[contradictions]]", "contradictions", 27, "unknown table"),
        ('why_differ = "Other kernels."', 'why_shared = "kernel"', "why_shared", 7, "did you mean kernels"),
        ('id = "kernels"', 'id = "machines"', "id", 40, "there twice"),
        ("expect = {", "expect = ", "expect", 17, "not TOML"),
    ],
)
def test_the_first_fault_is_named(
    tmp_path: Path, good: str, bad: str, key: str, line: int, said: str
) -> None:
    assert good in GOOD
    error = _load(tmp_path, GOOD.replace(good, bad, 1))
    assert said in str(error)
    assert (error.key, error.line) == (key, line)


@pytest.mark.parametrize(
    ("own", "why"),
    [
        ('why_differ = "Other rates."\n', "Other rates. Theirs is Linux 3.13."),
        ("", "Theirs is Linux 3.13."),
    ],
)
def test_a_shared_reason_stands_behind_a_claims_own(tmp_path: Path, own: str, why: str) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(GOOD.replace('why_differ = "Other kernels."\n', own + 'why_shared = "kernels"\n'))
    one, two = load(path).claims
    assert (one.why_differ, two.why_differ) == (why, "")


def test_whose_fault_it_is(tmp_path: Path) -> None:
    error = _load(tmp_path, GOOD.replace('quantity = "x"', "quantity = 1", 1))
    assert error.problem.startswith("of p-one: ")
