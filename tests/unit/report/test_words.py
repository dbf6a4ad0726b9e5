"""What the page says about its figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cambrian.report import words
from cambrian.report.collect import Collected
from tests.unit import report_results
from tests.unit.report import made

SECOND = 1_000_000_000


def measured_from(from_s: float | None, *begins_s: int) -> Collected:
    """A study of solo flows, with a trial for each beginning of what was measured of it."""
    trials = [replace(made.trial(seed, [9.0]), t0_ns=at * SECOND) for seed, at in enumerate(begins_s, 1)]
    found = made.collected("solo", [made.cell("solo", ["one"], trials)])
    return replace(found, study=found.study.model_copy(update={"measured_from_s": from_s}))


@pytest.mark.parametrize(
    ("from_s", "begins_s", "text"),
    [
        (
            None,
            (1, 2),
            "from the moment when every flow has run for 20 of its base round trips until the trial’s end",
        ),
        (30, (30, 30), "from 30 s after the trial’s start until its end"),
        (0, (0, 0), "from 0 s after the trial’s start until its end"),
        (
            30,
            (30, 0),
            "from 30 s after the trial’s start until its end; 1 trial that "
            "ended before that moment is measured completely",
        ),
    ],
)
def test_the_measured_interval_is_the_studys(
    from_s: float | None, begins_s: tuple[int, ...], text: str
) -> None:
    assert words.measured_interval(measured_from(from_s, *begins_s)) == text


@pytest.mark.parametrize(
    ("from_s", "text"), [(None, "20 of its base round trips"), (2.5, "from 2.5 s after the trial’s start")]
)
def test_the_page_names_it(tmp_path: Path, from_s: float | None, text: str) -> None:
    def change(data: dict[str, Any]) -> None:
        data["study"]["measured_from_s"] = from_s

    made_page = report_results.report(report_results.copy(tmp_path, change), tmp_path / "page").read_text()
    others = {"20 of its base round trips", "from 2.5 s after the trial’s start"} - {text}
    assert text in made_page
    assert not [other for other in others if other in made_page]
