"""What the page says about its figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cambrian.report import words
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import flows
from cambrian.study.model import Network
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
            "from the moment when every endless flow has run for 20 of its base round trips until the "
            "trial’s end",
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


OTHER = Network(name="other", rate_mbps=20, rtt_ms=50, buffer_bdp=4)


def together(*cells: Cell) -> str:
    """The answer of a ``flows`` study with these groups."""
    found = made.collected("flows", cells)
    return words.answer(found, {"flows": flows.table(found)})


def group(names: list[str], mbps: list[float], network: Network = made.NETWORK) -> Cell:
    return made.cell("flows", names, [made.trial(seed, mbps, network=network) for seed in (1, 2)], network)


def test_flows_together_answer_with_what_each_has() -> None:
    assert together(group(["a", "b"], [15.0, 5.0])) == (
        "Mean throughput: a 15.0 Mbps (75 %) and b 5.0 Mbps (25 %)."
    )
    assert together(group(["a", "b"], [15.0, 5.0]), group(["a", "b"], [18.0, 2.0], OTHER)) == (
        "Mean throughput: link: a 15.0 Mbps (75 %) and b 5.0 Mbps (25 %); "
        "other: a 18.0 Mbps (90 %) and b 2.0 Mbps (10 %)."
    )
    alone = replace(group(["a"], [20.0]), lineup="one")
    both = replace(group(["a", "b"], [15.0, 5.0]), lineup="two")
    assert together(alone, both) == (
        "Mean throughput: one: a 20.0 Mbps; two: a 15.0 Mbps (75 %) and b 5.0 Mbps (25 %)."
    )


def test_equal_flows_are_one_entry_with_their_mean() -> None:
    """Each order of the flows runs, so only the mean of equal flows is balanced."""
    assert together(group(["a", "b", "b", "b"], [8.0, 3.0, 4.0, 5.0])) == (
        "Mean throughput: a 8.0 Mbps (40 %) and 3 flows of b, each 4.0 Mbps (20 %)."
    )


def test_a_flow_of_fixed_size_answers_with_its_time() -> None:
    trials = []
    for seed, took_s in ((1, 1.0), (2, 2.0)):
        one = made.trial(seed, [15.0, 5.0])
        bulk, short = one.trial.flows
        sized = one.trial.model_copy(update={"flows": (bulk, short.model_copy(update={"size_bytes": 10**6}))})
        times: tuple[dict[str, float], ...] = ({}, {"completion_s": took_s})
        measured = [
            replace(flow, figures={**flow.figures, "share_percent": None, **more})
            for flow, more in zip(one.flows, times, strict=True)
        ]
        trials.append(replace(one, trial=sized, flows=tuple(measured)))
    assert together(made.cell("flows", ["bulk", "short"], trials)) == (
        "Means: bulk 15.0 Mbps and short has everything after 1.50 s."
    )


def test_a_contestant_that_differs_comes_after_the_shares() -> None:
    found = made.collected("flows", [group(["a", "b"], [15.0, 5.0])])
    verdicts = pl.DataFrame(
        [
            {"contestant": "a", "differs": True, "verdict": "different"},
            {"contestant": "b", "differs": False, "verdict": "inconclusive"},
        ]
    )
    assert words.answer(found, {"flows": flows.table(found), "verdicts": verdicts}) == (
        "Mean throughput: a 15.0 Mbps (75 %) and b 5.0 Mbps (25 %). "
        "1 of 2 contestants clearly differs from kernel TCP or the standard (a); 1 inconclusive."
    )
    assert "differs" not in words.answer(
        found, {"flows": flows.table(found), "verdicts": verdicts.with_columns(differs=False)}
    )


def test_a_range_names_the_line_up_and_the_network() -> None:
    cells = [
        replace(group(["a"], [float(mbps)], network), lineup=f"line-up {mbps}", key=f"{mbps}{network.name}")
        for network in (made.NETWORK, OTHER)
        for mbps in (1, 2, 3, 4)
    ]
    found = made.collected("flows", cells)
    assert words.answer(found, {"flows": flows.table(found)}) == (
        "Mean throughput ranged from 1.0 Mbps (line-up 1: a on link) to 4.0 Mbps (line-up 4: a on other)."
    )
