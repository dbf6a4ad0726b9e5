"""Sections of a suite.toml: read strictly, repeated for contestants."""

from __future__ import annotations

import pytest

from cambrian.report.suite.sections import sections, sections_for
from cambrian.study.errors import StudyError
from cambrian.suites import find, model
from tests.unit.report.suite.made import HEAT, LINES, section


def test_cells_are_the_columns_that_are_drawn() -> None:
    (heat,) = sections(section(HEAT), "suite.toml")
    assert heat.heat is not None
    assert heat.heat.spec.cell == ("loss_percent", "rate_mbps")
    (lines,) = sections(section(LINES), "suite.toml")
    assert lines.lines is not None
    assert lines.lines.spec.cell == ("loss_percent", "contestant", "rtt_ms")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('comparisn = "x"', ["section 1 (What was found)", "comparisn", "unknown key"]),
        (HEAT.replace('x = "loss_percent"', ""), ["heat.x", "missing"]),
        (HEAT.replace("effect =", "efect ="), ["heat.efect", "unknown key"]),
        ('comparison = "x"\n' + HEAT, ["comparison and heat", "two things"]),
        ("theory = true", ["theory"]),
        ('claims = "yes"', ["claims"]),
    ],
)
def test_faults_name_the_section_and_the_key(text: str, parts: list[str]) -> None:
    with pytest.raises(StudyError) as raised:
        sections(section(text), "studies/made/suite.toml")
    said = str(raised.value)
    for part in ["studies/made/suite.toml", *parts, "remedy: "]:
        assert part in said


def test_a_section_with_a_placeholder_is_there_for_each_contestant() -> None:
    raw = section(LINES.replace("made/grid", "made/$CONTESTANT/grid"))
    raw["section"][0]["heading"] = "$STACK’s $CCA"
    raw["section"].append({"heading": "Last"})
    found = sections_for(raw, "suite.toml", (("quinn", "bbr"), ("tcp", "cubic")))
    assert [one.heading for one in found] == ["quinn’s bbr", "tcp’s cubic", "Last"]
    assert [one.part for one in found] == ["made/quinn-bbr/grid", "made/tcp-cubic/grid", None]


@pytest.mark.parametrize("found", find.suites(), ids=lambda found: str(found.suite.name))
def test_every_suite_of_ours_has_sections(found: find.Found) -> None:
    _, raw = model.read(found.folder / model.FILE)
    assert sections_for(raw, "suite.toml", (("quinn", "cubic"),))
