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
part = "wpi/grid"
quantity = "throughput_mbps"
where = { loss_percent = { at_least = 0.5 }, "option.beta" = [0.6, 0.7] }
cell = ["rate_mbps"]
a = { contestant = "google-quiche cubic" }
b = { contestant = "tcp cubic" }
expect = { above = 1 }

[[claim]]
id = "p-two"
paper = "p"
text = "Not to be had."
source = "Table 2"
figure = ""
not_available = "Their service is gone."

[[reason]]
id = "kernels"
text = "Theirs is Linux 3.13."

[[reason]]
id = "machines"
text = "Theirs was slow."
"""


CONTRADICTION = """\
[[contradiction]]
id = "c"
claims = ["p-one", "p-two"]
text = "They disagree."
part = "wpi/grid"
quantity = "throughput_mbps"
factors = ["rate_mbps"]
"""


def _ledger(tmp_path: Path, text: str, contradiction: str = CONTRADICTION) -> Path:
    """A folder with one paper's claims and a contradiction."""
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "claims.toml").write_text(text)
    (tmp_path / "contradictions.toml").write_text(contradiction)
    return tmp_path


def _error(folder: Path, file: str) -> StudyError:
    with pytest.raises(StudyError) as caught:
        load(folder)
    assert caught.value.file == str(folder / file)
    return caught.value


def test_a_whole_ledger(tmp_path: Path) -> None:
    ledger = load(_ledger(tmp_path, GOOD))
    test = ledger.claims[0].tests[0]
    assert (test.kind, test.summary, test.part) == ("ratio", "geometric_mean", "wpi/grid")
    assert test.where["option.beta"] == (0.6, 0.7)
    assert ledger.claims[1].not_available
    assert ledger.contradictions[0].factors == ("rate_mbps",)


@pytest.mark.parametrize(
    ("good", "bad", "key", "line", "said"),
    [
        ('quantity = "throughput_mbps"', 'quantiti = "x"', "quantiti", 12, "did you mean quantity"),
        ('figure = "2"\n', "", "figure", 1, "missing"),
        ('why_differ = "Other kernels."', "why_differ = 3", "why_differ", 7, "give text in quotes"),
        ("above = 1 }", 'above = "1" }', "above", 17, "number"),
        ("above = 1 }", "over = 1 }", "over", 17, "above"),
        ("at_least = 0.5 }", "at_least = [1] }", "at_least", 13, "give a number"),
        ("{ at_least = 0.5 }", "1979-05-27", "loss_percent", 13, "at_least, at_most"),
        ("{ at_least = 0.5 }", "{}", "loss_percent", 13, "give at_least"),
        ("above = 1 }", "above = 1, below = 2 }", "below", 17, "give one of"),
        ("at_least = 0.5", "least = 0.5", "least", 13, "did you mean at_least?"),
        (
            'quantity = "throughput_mbps"',
            'quantity = "throughput_mpbs"',
            "quantity",
            12,
            "12:1: quantity: of p-one: no quantity throughput_mpbs\n"
            '    quantity = "throughput_mpbs"\n    ^\n  remedy: did you mean throughput_mbps',
        ),
        ('quantity = "throughput_mbps"', 'quantity = "zzz"', "quantity", 12, "remedy: `cambrian quantities`"),
        ("{ loss_percent = {", "{ los_percent = {", "los_percent", 13, "13:11: los_percent: of p-one: no qu"),
        ('cell = ["rate_mbps"]', 'cell = [\n"rate_mbps",\n"rtt"]', "cell", 16, "no quantity rtt"),
        ("a = { contestant", "a = { contestent", "contestent", 15, "did you mean contestant"),
        ('"option.beta"', "option.beta", "beta", 13, "put a name with a dot in quotes"),
        ('cell = ["rate_mbps"]', 'cell = ["rate_mbps"]\nover = "share"', "over", 15, "needs threshold"),
        ('id = "p-two"', 'id = "p-one"', "id", 20, "occurs twice"),
        ('paper = "p"\ntext = "Not', 'paper = "q"\ntext = "Not', "paper", 21, "q is not the folder's paper"),
        ('why_differ = "Other kernels."', 'why_shared = "kernel"', "why_shared", 7, "did you mean kernels"),
        ('id = "kernels"', 'id = "machines"', "id", 32, "occurs twice"),
        ("expect = {", "expect = ", "expect", 17, "not TOML"),
        ('"wpi/grid"', '"wpi/gird"', "part", 11, "of p-one: wpi has no part gird"),
        ('"wpi/grid"', '"wpi/gird"', "part", 11, "did you mean grid"),
        ('"wpi/grid"', '"grid"', "part", 11, "there is no suite grid"),
        ('"wpi/grid"', '"wpi"', "part", 11, "wpi has no part\n"),
        ('"wpi/grid"', '"rfc9743/loss"', "part", 11, "write rfc9743/STACK-CCA/PART"),
    ],
)
def test_the_first_fault_is_named(
    tmp_path: Path, good: str, bad: str, key: str, line: int, said: str
) -> None:
    assert good in GOOD
    error = _error(_ledger(tmp_path, GOOD.replace(good, bad, 1)), "p/claims.toml")
    assert said in str(error)
    assert (error.key, error.line) == (key, line)


@pytest.mark.parametrize(
    ("good", "bad", "key", "line", "said"),
    [
        ('claims = ["p-one", "p-two"]', 'claims = ["p-one", "p-tow"]', "claims", 3, "did you mean p-two"),
        ('factors = ["rate_mbps"]', 'factors = ["rate"]', "factors", 7, "did you mean trace or rate_mbps?"),
        ("[[contradiction]]", "[[contradictions]]", "contradictions", 1, "unknown table"),
    ],
)
def test_a_contradictions_fault_is_named(
    tmp_path: Path, good: str, bad: str, key: str, line: int, said: str
) -> None:
    folder = _ledger(tmp_path, GOOD, CONTRADICTION.replace(good, bad, 1))
    error = _error(folder, "contradictions.toml")
    assert said in str(error)
    assert (error.key, error.line) == (key, line)


def test_an_id_is_one_papers(tmp_path: Path) -> None:
    folder = _ledger(tmp_path, GOOD)
    (folder / "q").mkdir()
    (folder / "q" / "claims.toml").write_text(GOOD.replace('paper = "p"', 'paper = "q"'))
    error = _error(folder, "q/claims.toml")
    assert "another paper's claim has this id" in str(error)
    assert (error.key, error.line) == ("id", 2)


@pytest.mark.parametrize(
    ("own", "why"),
    [
        ('why_differ = "Other rates."\n', "Other rates. Theirs is Linux 3.13."),
        ("", "Theirs is Linux 3.13."),
    ],
)
def test_a_shared_reason_stands_behind_a_claims_own(tmp_path: Path, own: str, why: str) -> None:
    text = GOOD.replace('why_differ = "Other kernels."\n', own + 'why_shared = "kernels"\n')
    one, two = load(_ledger(tmp_path, text)).claims
    assert (one.why_differ, two.why_differ) == (why, "")


def test_whose_fault_it_is(tmp_path: Path) -> None:
    error = _error(
        _ledger(tmp_path, GOOD.replace('quantity = "throughput_mbps"', "quantity = 1", 1)), "p/claims.toml"
    )
    assert error.problem.startswith("of p-one: ")


def test_a_claim_that_counts_cells_is_not_called_an_average() -> None:
    counting = [
        one for one in load().claims if one.tests and all(t.over in {"share", "steps"} for t in one.tests)
    ]
    assert len(counting) > 5
    assert [one.id for one in counting if "on average" in one.text] == []


def test_a_claim_that_is_judged_without_loss_only_says_so() -> None:
    without = [
        one
        for one in load().claims
        if one.tests and all(test.where.get("loss_percent") == 0 for test in one.tests)
    ]
    assert len(without) > 5
    assert [one.id for one in without if "without" not in one.text.lower()] == []


def test_a_contradiction_names_a_part(tmp_path: Path) -> None:
    error = _error(_ledger(tmp_path, GOOD, CONTRADICTION.replace("/grid", "/gird")), "contradictions.toml")
    assert (error.key, error.line) == ("part", 5)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"tcp cubic"', '"tcp cubik"', "did you mean tcp cubic?"),
        ('"tcp cubic"', '["tcp cubic", "tcp bbr"]', 'no trial of wpi/grid has contestant = "tcp bbr"'),
        ('"tcp cubic"', '{ not = "tcp bbr" }', 'no trial of wpi/grid has contestant = "tcp bbr"'),
        ("{ loss_percent", '{ network = "dsl", loss_percent', 'no trial of wpi/grid has network = "dsl"'),
    ],
)
def test_a_name_that_no_trial_of_the_part_has(tmp_path: Path, old: str, new: str, says: str) -> None:
    error = _error(_ledger(tmp_path, GOOD.replace(old, new, 1)), "p/claims.toml")
    assert error.line in (13, 16)
    assert says in str(error)
    assert "of p-one" in str(error)


def test_a_name_of_a_contradiction_that_no_trial_has(tmp_path: Path) -> None:
    text = CONTRADICTION + 'where = { stack = "quinn" }\n'
    error = _error(_ledger(tmp_path, GOOD, text), "contradictions.toml")
    assert 'no trial of wpi/grid has stack = "quinn"' in str(error)
