"""Sections of a suite.toml: read strictly, repeated for contestants."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.report.suite.sections import sections
from cambrian.study.errors import StudyError
from cambrian.suites import find, model
from tests.unit.report.suite.made import HEAT, LINES, section


def test_cells_are_the_columns_that_are_drawn(tmp_path: Path) -> None:
    (heat,) = sections(section(tmp_path, HEAT), ())
    assert heat.heat is not None
    assert heat.heat.spec.cell == ("loss_percent", "rate_mbps")
    (lines,) = sections(section(tmp_path, LINES), ())
    assert lines.lines is not None
    assert lines.lines.spec.cell == ("loss_percent", "contestant", "rtt_ms")


@pytest.mark.parametrize(
    ("text", "key", "line", "parts"),
    [
        ('comparisn = "x"', "comparisn", 3, ["unknown key", "did you mean comparison?"]),
        (HEAT.replace('x = "loss_percent"', ""), "x", 4, ["missing", "add x"]),
        (HEAT.replace('x = "loss_percent"', 'x = "los_percent"'), "x", 11, ["did you mean loss_percent"]),
        (HEAT.replace("effect =", "efect ="), "efect", 9, ["unknown key", "did you mean effect?"]),
        (
            HEAT.replace('"ratio"', '"ration"'),
            "effect",
            9,
            ['"ration" is not possible', 'give "ratio"', '"percent_less"'],
        ),
        ('comparison = "x"\n' + HEAT, "heat", 5, ["comparison and heat", "two sections"]),
        ("theory = true", "theory", 3, ["theory"]),
        (
            'claims = "yes"',
            "claims",
            3,
            ['"yes" is not possible', "true or false, without quotes, or a list"],
        ),
        (
            HEAT.replace("a = { contestant", "a = { option.beta"),
            "beta",
            7,
            ["put a name with a dot in quotes"],
        ),
    ],
)
def test_faults_name_the_line_the_section_and_the_key(
    tmp_path: Path, text: str, key: str, line: int, parts: list[str]
) -> None:
    with pytest.raises(StudyError) as raised:
        sections(section(tmp_path, text), ())
    assert (raised.value.file, raised.value.line) == (str(tmp_path / "suite.toml"), line)
    assert raised.value.key == key
    for part in ["of What was found: ", *parts, "remedy: "]:
        assert part in str(raised.value)


def test_a_fault_that_a_contestant_brings_is_where_the_placeholder_stands(tmp_path: Path) -> None:
    file = section(tmp_path, LINES.replace('title = "Payload', 'titel = "$CCA'))
    with pytest.raises(StudyError, match="did you mean title") as raised:
        sections(file, (("quinn", "bbr"),))
    assert raised.value.line == 7


def test_sections_are_tables(tmp_path: Path) -> None:
    (tmp_path / "one.toml").touch()
    (tmp_path / "suite.toml").write_text('name = "s"\ntitle = "S"\nparts = ["one"]\n[section]\nheading = "H"')
    _, file = model.read(tmp_path / "suite.toml")
    with pytest.raises(StudyError, match=r"write \[\[section\]\]") as raised:
        sections(file, ())
    assert raised.value.line == 4


def test_a_section_with_a_placeholder_is_there_for_each_contestant(tmp_path: Path) -> None:
    text = LINES.replace("made/grid", "made/$CONTESTANT/grid") + '[[section]]\nheading = "$STACK’s $CCA"\n'
    file = section(tmp_path, text + '[[section]]\nheading = "Last"\n')
    found = sections(file, (("quinn", "bbr"), ("tcp", "cubic")))
    headings = [one.heading for one in found]
    assert headings == ["What was found", "What was found", "quinn’s bbr", "tcp’s cubic", "Last"]
    assert [one.part for one in found[:2]] == ["made/quinn-bbr/grid", "made/tcp-cubic/grid"]


@pytest.mark.parametrize("found", find.suites(), ids=lambda found: str(found.suite.name))
def test_every_suite_of_ours_has_sections(found: find.SuiteFolder) -> None:
    _, file = model.read(found.folder / model.FILE)
    assert sections(file, (("quinn", "cubic"),))
