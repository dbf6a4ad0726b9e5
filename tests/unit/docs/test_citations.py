"""Sections of RFCs that the project cites are there, and are about what they are cited for."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.unit.docs.pages import DOCS, ROOT

#: last section below each heading, as in the RFC's table of contents
LAST = {
    "9002": {"": 9, "5": 3, "6": 4, "6.1": 2, "6.2": 4, "7": 8, "7.3": 3, "7.6": 3, "8": 3},
    "9743": {"": 9, "3": 2, "5": 3, "5.1": 5, "5.2": 3, "5.3": 2, "6": 4, "7": 11},
}
FILES = [
    *(path for name in ("src", "stacks", "studies", "published") for path in (ROOT / name).rglob("*.toml")),
    *(ROOT / "src").rglob("*.py"),
    *(path for path in DOCS.rglob("*.md") if "atlas" not in str(path)),
]


def _is_there(rfc: str, section: str) -> bool:
    above, _, number = section.rpartition(".")
    return int(number) <= LAST[rfc].get(above, 0) and (not above or _is_there(rfc, above))


@pytest.mark.parametrize("rfc", LAST)
def test_every_cited_section_is_there(rfc: str) -> None:
    number = r"\d+(?:\.\d+)*"
    cited = re.compile(rf"RFC {rfc},? \(?sections? ({number}(?:(?:, | and | to ){number})*)")
    found = [
        (section, path.relative_to(ROOT))
        for path in FILES
        for match in cited.findall(path.read_text(encoding="utf-8", errors="replace"))
        for section in re.findall(number, match)
    ]
    assert len(found) > 20
    assert [one for one in found if not _is_there(rfc, one[0])] == []


def test_sections_are_about_what_they_are_cited_for() -> None:
    references = tomllib.loads((ROOT / "src/cambrian/judging/references.toml").read_text(encoding="utf-8"))
    for family in ("cubic", "reno"):
        # 7.3.1 is slow start, 7.3.2 recovery
        assert "RFC 9002, section 7.3.2" in references[family]["losses_answered"]["source"]
    probes = tomllib.loads((ROOT / "src/cambrian/probes/probes.toml").read_text(encoding="utf-8"))["probe"]
    # 4 is on controlled environments, 5.2.1 on flows of other algorithms beside it
    assert next(one["source"] for one in probes if one["name"] == "latecomer") == "RFC 9743, section 5.2.1"
