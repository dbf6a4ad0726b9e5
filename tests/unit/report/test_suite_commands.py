"""The commands that make a suite's results again."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from cambrian.report.suite.ran import Part, Ran
from cambrian.study.toml_file import TomlFile
from cambrian.suites.model import Suite

WHOLE = "cambrian run all --profile quick --seed 1"


def ran(command: str, recorded: list[str], parts: dict[str, str]) -> Ran:
    found = tuple(
        Part(place, Path(place), "", valid=1, invalid=0, missing=0, packet_hashes=(), kernels=(), command=own)
        for place, own in parts.items()
    )
    record = {"command": command, "parts": recorded}
    return Ran(Path("x"), cast("Suite", None), cast("TomlFile", None), record, found)


@pytest.mark.parametrize(
    "parts",
    [
        {"a": "cambrian run x/a --profile quick --seed 1", "b": "cambrian run x/b --profile quick --seed 1"},
        {"q-cubic/a": "cambrian run x/a --contestant q/cubic --profile quick --seed 1"},
        {},
    ],
)
def test_one_command_that_ran_all_parts_is_enough(parts: dict[str, str]) -> None:
    assert ran(WHOLE, list(parts), parts).commands == (WHOLE,)


def test_parts_that_ran_by_others_have_their_own() -> None:
    first = "cambrian run x/a --profile full --only 'n*'"
    other = "cambrian run x/b --profile full --only 'm*'"
    both = {"a": first, "b": other}
    # the record is of the part that ran first
    assert ran(first, ["a"], both).commands == (first, other)
    # a part of a whole run has run again with other options
    assert ran(WHOLE, ["a", "b"], both).commands == (first, other)
