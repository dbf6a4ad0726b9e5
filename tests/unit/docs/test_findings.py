"""The findings page has the figures of the pages and the studies that it sums up."""

from __future__ import annotations

import re

import pytest

from tests.unit.docs.pages import DOCS, ROOT

PAGE = (DOCS / "results/findings.md").read_text(encoding="utf-8")
PROOF = (DOCS / "reference/stacks.md").read_text(encoding="utf-8").partition("## Proof")[2]
#: (contestant, property, "it" and kernel TCP) of each row about a hunt's finding
HUNTS = re.findall(
    r"^\| (\S+/\S+) \| `([a-z-]+)`[^|]*\| [^|]+ \| ([\d.]+)[^|]* \| ([\d.]+)[^|]* \| ([^|]+) \|$",
    PAGE,
    re.MULTILINE,
)


def _study(contestant: str, broken: str) -> str:
    return f"{contestant.replace('/', '-')}-{broken}"


def test_each_hunted_study_has_a_row() -> None:
    studies = {path.stem for path in (ROOT / "studies/hunted").glob("*.toml")}
    assert {_study(contestant, broken) for contestant, broken, *_ in HUNTS} == studies
    stacks = {contestant.partition("/")[0] for contestant, *_ in HUNTS}
    assert f"{len(studies)} cases in {len(stacks)} stacks" in PAGE


@pytest.mark.parametrize(("contestant", "broken", "it", "kernel", "other"), HUNTS)
def test_a_hunt_s_figures_are_its_study_s(
    contestant: str, broken: str, it: str, kernel: str, other: str
) -> None:
    text = (ROOT / "studies/hunted" / f"{_study(contestant, broken)}.toml").read_text(encoding="utf-8")
    said = dict(re.findall(r"^# (It|Kernel|To quinn's client)[^:\n]*: (.*)$", text, re.MULTILINE))
    assert re.search(rf"(?<![\d.]){re.escape(it)}(?![\d.])", said["It"])
    assert re.search(rf"(?<![\d.]){re.escape(kernel)}(?![\d.])", said["Kernel"])
    figure = re.match(r"[\d.]+", other)
    assert bool(figure) == ("To quinn's client" in said)
    if figure:
        assert re.search(rf"(?<![\d.]){re.escape(figure[0])}(?![\d.])", said["To quinn's client"])


@pytest.mark.parametrize(
    ("stack", "cca", "pattern"),
    [
        ("ngtcp2", "bbr", r"ngtcp2 1.11.0, BBR \| fills (\d+) %"),
        ("quiche-0.24", "bbr2", r"stays in Drain: (\d+) % of an empty link"),
        ("tquic", "bbr3", r"BBRv3 \| fills (\d+) % of an empty link"),
    ],
)
def test_parts_of_an_empty_link_are_those_of_the_proof(stack: str, cca: str, pattern: str) -> None:
    (measured,) = re.findall(rf"^\| {re.escape(stack)} \| {cca} \| ([\d.]+)% \|", PROOF, re.MULTILINE)
    (said,) = re.findall(pattern, PAGE)
    assert abs(float(measured) - float(said)) <= 0.5


def test_pauses_have_the_date_of_their_probes() -> None:
    (measured,) = re.findall(
        r"\*\*Pauses\*\* \(`cambrian run pauses`[^)]*2026-(\d\d-\d\d)\)",
        (DOCS / "reference/probes.md").read_text(encoding="utf-8"),
    )
    (row,) = re.findall(r"\| `cambrian run pauses` \| (\d\d-\d\d) \|", PAGE)
    (text,) = re.findall(r"\*\*CUBIC counts idle time[^(]*\((\d\d-\d\d)\)", PAGE)
    assert (row, text) == (measured, measured)
