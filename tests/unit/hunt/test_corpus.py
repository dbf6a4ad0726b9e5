"""The studies of studies/hunted are what a hunt would print today, with their causes."""

from __future__ import annotations

import pytest

from cambrian import paths
from cambrian.hunt import situation
from cambrian.hunt.properties import all_properties
from cambrian.hunt.search import FRESH_SEEDS, SEEDS
from cambrian.stacks import catalogue
from tests.unit.hunt.corpus import HUNTED

FOLDER = paths.data() / "studies" / "hunted"


def test_all_of_them_are_known_here() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(HUNTED)


@pytest.mark.parametrize("name", HUNTED)
def test_it_is_the_study_of_its_property(name: str) -> None:
    contestant, broken, place = HUNTED[name]
    one = all_properties()[broken]
    assert one.applies(place) and len(place.unusual) <= 3
    stack, cca = contestant.split("/")
    reference = catalogue.reference_of(stack, cca)
    assert reference and (not one.families or reference in one.families)
    text = (FOLDER / f"{name}.toml").read_text()
    lines = text.splitlines(keepends=True)
    comments = [line for line in lines if line.startswith("#")]
    assert any(line.startswith("# Cause: ") for line in comments)
    variants = one.variants(place)
    names = ["network"] if len(variants) == 1 else ["path", "other-path"]
    expected = situation.study_toml(
        f"{contestant}: {broken}",
        dict(zip(names, variants, strict=True)),
        contestant,
        f"tcp/{reference}",
        seeds=SEEDS + FRESH_SEEDS,
    )
    assert "".join(lines[len(comments) :]) == expected
