"""docs/how-to/write-a-study.md and docs/reference/studies.md: their examples load, and no key is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cambrian.study.builtin import builtin_studies
from cambrian.study.errors import StudyError
from cambrian.study.expand import expand
from cambrian.study.load import parse_study
from cambrian.study.model import (
    BurstLoss,
    Change,
    Cpu,
    Frozen,
    PageLoads,
    PageObjects,
    Profile,
    Stopping,
    Study,
)
from cambrian.study.tables import HEADING_KEYS, TABLE_KEYS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("how-to/write-a-study.md", "reference/studies.md")
TEXT = "".join((DOCS / page).read_text(encoding="utf-8") for page in PAGES)
EXAMPLES = re.findall(r"^```toml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
CATALOGUE = {
    "tcp": ["cubic", "reno"],
    "quinn": ["cubic", "bbr"],
    "quic-go": ["cubic"],
    "tcp-h2": ["cubic"],
}


def load(text: str) -> Study:
    return parse_study(text, "my-cubic.toml", Path(), CATALOGUE)


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: text.splitlines()[0])
def test_examples_load(text: str) -> None:
    assert load(text).title


def test_the_first_example_has_as_many_trials_as_it_says() -> None:
    groups = expand(load(EXAMPLES[0]), reference_of=lambda stack, cca: cca)
    assert f"{sum(len(group.trials) for group in groups)} trials" in TEXT


def test_the_error_shown_is_the_error_given() -> None:
    lines = EXAMPLES[0].splitlines()
    assert lines[7].startswith("rtt_ms")
    lines[7] = "rtt_s = 0.05"
    with pytest.raises(StudyError) as caught:
        load("\n".join(lines))
    assert str(caught.value) in TEXT


def test_every_key_is_in_a_table() -> None:
    rows = set(re.findall(r"^\| `([a-z_]+)` \|", TEXT, re.MULTILINE))
    assert rows >= {*HEADING_KEYS, *TABLE_KEYS["network"], *TABLE_KEYS["contestant"], *TABLE_KEYS["flow"]}


@pytest.mark.parametrize("model", [BurstLoss, Change, Cpu, PageLoads, PageObjects, Profile, Stopping])
def test_every_key_of_the_smaller_tables_is_named(model: type[Frozen]) -> None:
    assert all(f"`{key}`" in TEXT for key in model.model_fields)


def test_every_built_in_study_is_named() -> None:
    assert all(f"| `{study.name}` |" in TEXT for study in builtin_studies())
