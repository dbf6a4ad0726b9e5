"""What a suite's page names is checked before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cambrian import paths
from cambrian.cli import app
from cambrian.report.suite import checked
from cambrian.stacks import catalogue
from cambrian.study import builtin
from cambrian.study.errors import StudyError
from cambrian.suites import find, model, names
from cambrian.suites.find import SuiteFolder

PART = """\
name = "s-grid"
title = "Grid"
design = "solo"
[[network]]
name = "slow"
rate_mbps = 5
rtt_ms = 50
buffer_bdp = 1
[[contestant]]
stack = ["quinn", "tcp"]
cca = "cubic"
"""
HEAT = """\
[section.heat]
part = "s/grid"
quantity = "throughput_mbps"
a = { contestant = "quinn cubic" }
title = "Mbps"
x = "rtt_ms"
y = "network"
"""
COMPARISON = """\
[[comparison]]
name = "t"
title = "T"
source = "Table 1"
files = ["t.csv"]
match = { rtt = "rtt_ms" }
published = "mbps"
measured = { part = "s/grid", quantity = "throughput_mbps", a = { contestant = "quinn cubic" } }
"""
CARD = """\
[[criterion]]
id = "c"
text = "C"
source = "S"
[[criterion.test]]
says = "s"
part = "grid"
quantity = "throughput_mbps"
a = { contestant = "$CONTESTANT" }
expect = { above = 1 }
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite s with one part, and its paper p with one comparison, in the place of those built in."""
    for name in ("studies/s", "published/p"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "studies/s/grid.toml").write_text(PART)
    (tmp_path / "published/p/comparisons.toml").write_text(COMPARISON)
    (tmp_path / "published/p/t.csv").write_text("rtt,mbps\n50,4.5\n")
    for name in ("stacks", "kernel"):
        (tmp_path / name).symlink_to(paths.data() / name)
    monkeypatch.setattr(builtin, "folder", lambda: tmp_path / "studies")
    monkeypatch.setattr(paths, "data", lambda: tmp_path)
    return tmp_path


def suite(root: Path, text: str, heading: str = 'paper = "p"\n') -> SuiteFolder:
    head = f'name = "s"\ntitle = "S"\nparts = ["grid"]\n{heading}[[section]]\nheading = "H"\n'
    path = root / "studies/s/suite.toml"
    path.write_text(head + text)
    return SuiteFolder(model.read(path)[0], path.parent)


@pytest.mark.parametrize("text", [HEAT, 'comparison = "t"\n', ""])
def test_a_right_section_passes(root: Path, text: str) -> None:
    checked.check(suite(root, text))


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('comparisn = "t"\n', 7, "did you mean comparison?"),
        ('comparison = "u"\n', 7, "no comparison u"),
        ('claims = ["x"]\n', 7, "no claim x"),
        ('scorecard = "card.toml"\n', 7, "there is no card.toml in this folder"),
        (HEAT.replace("s/grid", "s/gird"), 8, "s has no part gird"),
        (HEAT.replace("quinn cubic", "quin cubic"), 10, "did you mean quinn cubic?"),
        (HEAT.replace('x = "rtt_ms"', 'x = "rtt"'), 12, "no quantity rtt"),
        (HEAT.replace("quantity", 'table = "verdict"\nquantity'), 9, "did you mean verdicts?"),
        (HEAT.replace("s/grid", "s/$CONTESTANT/grid"), 5, "this suite has none"),
        (HEAT.replace("Mbps", "$REFERENCE"), 5, "$REFERENCE is no placeholder"),
    ],
)
def test_a_fault_is_named_with_its_line(root: Path, text: str, line: int, says: str) -> None:
    with pytest.raises(StudyError) as raised:
        checked.check(suite(root, text))
    assert (raised.value.file, raised.value.line) == (str(root / "studies/s/suite.toml"), line)
    assert says in str(raised.value)


def test_a_comparison_needs_a_paper(root: Path) -> None:
    with pytest.raises(StudyError, match="this suite has no paper"):
        checked.check(suite(root, 'comparison = "t"\n', ""))


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("t.csv", "u.csv", 5, "there is no u.csv"),
        ("s/grid", "s/gird", 8, "s has no part gird"),
        ("quinn cubic", "quinn bbr", 8, 'no trial of s/grid has contestant = "quinn bbr"'),
    ],
)
def test_a_comparison_that_is_shown_is_checked(root: Path, old: str, new: str, line: int, says: str) -> None:
    path = root / "published/p/comparisons.toml"
    path.write_text(COMPARISON.replace(old, new))
    with pytest.raises(StudyError) as raised:
        checked.check(suite(root, 'comparison = "t"\n'))
    assert (raised.value.file, raised.value.line) == (str(path), line)
    assert says in str(raised.value)


def test_a_scorecard_is_checked_for_each_contestant(root: Path) -> None:
    part = PART.replace('["quinn", "tcp"]', '"$STACK"').replace('"cubic"', '"$CCA"')
    (root / "studies/s/grid.toml").write_text(part)
    card = root / "studies/s/card.toml"
    card.write_text(CARD)
    heading = 'contestants = ["quinn/cubic", "tcp/reno"]\n'
    checked.check(suite(root, 'scorecard = "card.toml"\n', heading))
    card.write_text(CARD.replace('"grid"', '"gird"'))
    with pytest.raises(StudyError, match="has no part gird") as raised:
        checked.check(suite(root, 'scorecard = "card.toml"\n', heading))
    assert (raised.value.file, raised.value.line) == (str(card), 7)
    # the name of one contestant is not the other's
    card.write_text(CARD.replace("$CONTESTANT", "quinn cubic"))
    with pytest.raises(StudyError, match='no trial of s/tcp-reno/grid has contestant = "quinn cubic"'):
        checked.check(suite(root, 'scorecard = "card.toml"\n', heading))


def test_a_comparison_that_two_sections_show_has_one_error(root: Path) -> None:
    path = root / "published/p/comparisons.toml"
    path.write_text(COMPARISON.replace("s/grid", "s/gird"))
    text = 'comparison = "t"\n[[section]]\nheading = "With theory"\ntheory = true\ncomparison = "t"\n'
    with pytest.raises(StudyError, match="s has no part gird"):
        checked.check(suite(root, text))


def test_a_text_may_tell_of_a_variable(root: Path) -> None:
    checked.check(suite(root, 'text = "See $HOME/results."\n'))
    with pytest.raises(StudyError, match="this suite has none"):
        checked.check(suite(root, 'text = "See $STACK."\n'))


def test_faults_of_all_suites_are_told_at_once(root: Path) -> None:
    suite(root, 'comparisn = "t"\n')
    (root / "studies/z").mkdir()
    (root / "studies/z/grid.toml").write_text(PART)
    text = (root / "studies/s/suite.toml").read_text()
    (root / "studies/z/suite.toml").write_text(text.replace('name = "s"', 'name = "z"'))
    with pytest.raises(StudyError) as raised:
        checked.check_all(find.suites())
    assert [one.file for one in (raised.value, *raised.value.others)] == [
        str(root / f"studies/{name}/suite.toml") for name in "sz"
    ]


def test_a_changed_part_is_read_again(root: Path) -> None:
    suite(root, "")
    assert names.names("s/grid")["network"] == {"slow"}
    (root / "studies/s/grid.toml").write_text(PART.replace("slow", "narrow"))
    assert names.names("s/grid")["network"] == {"narrow"}


def test_a_fault_of_the_page_stops_no_run_of_one_part(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite(root, 'comparison = "none"\n')
    monkeypatch.chdir(root)
    one = CliRunner().invoke(app, ["run", "s/grid", "--dry-run"])
    assert one.exit_code == 0 and "no comparison none" in one.stderr and "s/grid: slow/" in one.stdout
    whole = CliRunner().invoke(app, ["run", "s", "--dry-run"])
    assert isinstance(whole.exception, StudyError) and not whole.stdout


def test_a_stack_with_an_error_leaves_the_names_unknown(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A manifest that would replace tcp stopped `cambrian claims`."""
    (tmp_path / "own/tcp").mkdir(parents=True)
    (tmp_path / "own/tcp/manifest.toml").write_text("nonsense = 1")
    monkeypatch.setenv("CAMBRIAN_STACKS", str(tmp_path / "own"))
    catalogue.load.cache_clear()
    try:
        checked.check(suite(root, HEAT))
    finally:
        catalogue.load.cache_clear()


@pytest.mark.parametrize("found", find.suites(), ids=lambda found: str(found.suite.name))
def test_every_suite_of_ours_passes(found: SuiteFolder) -> None:
    checked.check(found)
