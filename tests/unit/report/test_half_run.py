"""The page of a study that has run in part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from cambrian.judging.verdicts import by_reason
from cambrian.report import matrix, timelines
from cambrian.report.collect import Collected
from cambrian.report.figures import colours
from tests.unit.report.made import cell, collected, contestant, trial

COMMAND = "cambrian run made --out results/made"


@pytest.fixture
def half_run() -> Collected:
    """x and z have not run, y has."""
    x, z = (replace(cell("solo", [name], []), missing=("t",)) for name in "xz")
    y = replace(cell("solo", ["y"], [trial(1, [9.0])]), records=cast("Any", ("a record",)))
    found = collected("solo", [x, y, z], [contestant("x")])
    return replace(found, raw={"command": COMMAND})


def test_rows_without_a_trial_come_last(half_run: Collected) -> None:
    assert [row.name for row in matrix.matrix(half_run, {}, {}).rows] == ["y", "x", "z"]


def test_a_group_that_has_not_run_says_how_to_run_it(
    half_run: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(colours, "palette", lambda _: dict.fromkeys("xyz", "#000000"))
    found = timelines.groups(half_run)
    assert found["link/x"]["run"] == COMMAND
    assert "run" not in found["link/y"]


def test_what_traces_do_not_show_is_in_words_and_each_reason_once() -> None:
    why = "other flows share the queue"
    missing = {"losses_answered": why, "initial_window_packets": "no start", "marks_answered": why}
    assert by_reason(missing) == {
        "share of loss episodes after which the flight stays lower / share of CE episodes after which the "
        "flight stays lower": why,
        "initial window": "no start",
    }
