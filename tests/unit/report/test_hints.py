"""How many more trials: where a verdict is open, and where a group stopped short."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from cambrian.report import families, hints, tables
from cambrian.report.collect import collect
from cambrian.report.conformance import seed_pairs
from cambrian.report.tables import stopping
from cambrian.stats import power, states
from cambrian.stats.interval import Interval
from cambrian.store.results import Results
from tests.unit import report_results


def interval(estimate: float, low: float, high: float, seeds: int = 5) -> Interval:
    return Interval(estimate, low, high, 0.95, seeds, "")


UNKNOWN = {"more_seeds": None, "settles_as": None}


def test_only_what_is_inconclusive_has_a_hint() -> None:
    open_one = interval(0.1, -0.1, 0.3)
    assert hints.columns("inconclusive", open_one, states.CONFORMANCE, None) == {
        "more_seeds": power.to_settle(open_one, states.CONFORMANCE).more,
        "settles_as": "different",
    }
    for verdict in ("different", "equivalent", states.SAME, "itself"):
        assert hints.columns(verdict, open_one, states.CONFORMANCE, None) == UNKNOWN
    assert hints.columns("inconclusive", None, states.CONFORMANCE, None) == UNKNOWN
    # at the margin's end, and far from telling: millions
    far = interval(1e-6, -1, 1)
    assert hints.columns("inconclusive", far, states.Margin(-1e-6, 1e-6, ""), None) == UNKNOWN


@pytest.mark.parametrize("floor", [0.4, 0.6])
@pytest.mark.parametrize("deficit", [-0.082, 0.0, 0.02, 0.08, 0.3])
def test_no_number_leads_to_a_conformance_that_the_judge_never_finds(deficit: float, floor: float) -> None:
    """Below a floor of 0.5 nothing is equivalent, and a conformance above the floor never differs."""
    hint = hints.columns(
        "inconclusive",
        interval(deficit, deficit - 0.4, deficit + 0.4),
        states.CONFORMANCE,
        None,
        possible=seed_pairs.possible(floor),
    )
    later = {
        seed_pairs.judge(interval(deficit, deficit - half, deficit + half), p, floor)
        for half, p in ((0.099, 1.0), (0.05, 0.01), (0.001, 1e-9))
    }
    assert hint == UNKNOWN or hint["settles_as"] in later
    assert (hint == UNKNOWN) == (floor < 0.5 and deficit < 0.05)


def test_the_number_of_seeds_follows_the_test_that_decides() -> None:
    """A difference of 2 SDs: five seeds show it alone; as the first of 2 tests in 6 families it needs 8."""
    arm = 2.776 * 0.1 / math.sqrt(5)
    found = interval(0.2, 0.2 - arm, 0.2 + arm)
    (level, _) = families.levels_for_verdicts([0.03, 0.4])
    assert level == pytest.approx(0.05 / 12)
    assert hints.columns("inconclusive", found, states.HARM, None)["more_seeds"] == 1
    assert hints.columns("inconclusive", found, states.HARM, level)["more_seeds"] == 3


@pytest.mark.parametrize("share", [0.3, 0.5, 0.52])
def test_below_three_seeds_it_is_what_is_missing_to_an_interval(share: float) -> None:
    """Of an even split with an SD of 10, the promised third seed settled 8 %."""
    found = interval(share, math.nan, math.nan, 2)
    hint = hints.columns("inconclusive", found, states.SHARE, None, 0.5)
    assert hint == {"more_seeds": 1, "settles_as": None}


@pytest.mark.parametrize(("arms", "is_known"), [((6, 6), True), ((6, 9), True), ((6, 10), False)])
def test_of_sides_with_unlike_numbers_of_seeds_no_number_is_known(
    arms: tuple[int, int], *, is_known: bool
) -> None:
    """With 3 and 30 seeds, the promised number showed the difference in 16 to 20 % instead of 80."""
    for one in (arms, arms[::-1]):
        hint = hints.columns("inconclusive", interval(0.1, -0.1, 0.3), None, None, arms=one)
        assert (hint != UNKNOWN) == is_known


REACHED: dict[str, Any] = {
    "measure": "throughput_mbps", "half_width": 0.5, "seeds": 11, "valid": 10, "median": 3.0,
    "low": 2.5, "high": 4.0, "stopped": True, "narrow": False, "reason": "maximum of seeds reached",
}  # fmt: skip


def test_what_stopped_each_group(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        for group, stop in zip(data["groups"], (REACHED, {**REACHED, "narrow": True}), strict=False):
            group["stopping"] = stop

    collected = collect(Results(report_results.copy(tmp_path, change)))
    frame = stopping.table(collected)
    assert frame is not None
    assert frame["group"].to_list() == [cell.key for cell in collected.cells[:2]]
    # the longer arm, 1 Mbps, must be halved: four times as many valid trials
    assert frame["more_seeds"].to_list() == [30, None]
    first, second = tables.shown("stopping", frame, collected).rows
    assert first[1:] == (
        "throughput", "11 (10)", "3.00 [2.50, 4.00]", "± 0.5 Mbps",
        "too wide; needs 30 more seeds if the spread stays as it is",
    )  # fmt: skip
    assert second[-1] == "narrow enough"


def test_a_study_of_so_many_seeds_has_no_such_table() -> None:
    assert stopping.table(collect(Results(report_results.KNOBS))) is None


@pytest.mark.parametrize(
    ("stopped", "why", "end"),
    [(False, "why", "still running"), (True, "why", "why"), (False, *["seed 3 could not run: no"] * 2)],
)
def test_groups_without_an_interval(tmp_path: Path, stopped: bool, why: str, end: str) -> None:
    def change(data: dict[str, Any]) -> None:
        stop = {**REACHED, "low": None, "high": None, "stopped": stopped, "reason": why}
        data["groups"][0]["stopping"] = stop

    collected = collect(Results(report_results.copy(tmp_path, change)))
    frame = stopping.table(collected)
    assert frame is not None
    (row,) = tables.shown("stopping", frame, collected).rows
    assert (row[3], row[-1]) == ("3.00", end)
