"""How many more trials: where a verdict is open, and where a group stopped short."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from cambrian.report import hints
from cambrian.report.collect import collect
from cambrian.report.tables import stopping
from cambrian.stats.interval import Interval
from cambrian.store.results import Results
from tests.unit import report_results


def deficit(estimate: float, low: float, high: float, trials: int = 5) -> Interval:
    return Interval(estimate, low, high, 0.95, trials, "")


def test_conformance() -> None:
    assert hints.below_the_floor(deficit(0.3, 0.2, 0.4, 3), trials=3, fewest=5) == 2
    assert hints.below_the_floor(deficit(0.3, 0.2, 0.4), trials=5, fewest=5) is None
    assert hints.below_the_floor(deficit(-0.1, -0.2, 0.1), trials=5, fewest=5) is None
    assert hints.below_the_floor(None, trials=5, fewest=5) is None
    assert hints.below_the_floor(deficit(0.1, math.nan, math.nan), trials=5, fewest=5) is None
    # the arm is as long as the deficit: (1 + 0.8416/1.96)² = 2.043 times the trials
    assert hints.below_the_floor(deficit(0.1, 0.0, 0.2), trials=5, fewest=5) == math.ceil(5 * 2.043) - 5
    # the deficit would need millions
    assert hints.below_the_floor(deficit(1e-6, -0.1, 0.1), trials=5, fewest=5) is None


def test_throughput_ratio() -> None:
    # differences from 0.5: mean 0.05, SD 0.1, so d = 0.5: 34 trials
    ratios = [0.45, 0.45, 0.65, 0.65, 0.55]
    assert hints.uneven(ratios, deficit(0.55, 0.48, 0.62)) == 34 - 5
    assert hints.uneven(ratios, deficit(0.55, 0.51, 0.62)) is None
    assert hints.uneven(ratios[:2], deficit(0.45, math.nan, math.nan)) is None
    assert hints.uneven(ratios, None) is None


REACHED: dict[str, Any] = {
    "measure": "throughput_mbps", "half_width": 0.5, "seeds": 11, "valid": 10, "median": 3.0,
    "low": 2.5, "high": 4.0, "stopped": True, "narrow": False, "reason": "most seeds reached",
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
    first, second = stopping.shown(frame, collected).rows
    assert first[1:] == (
        "throughput", "11 (10)", "3.00 [2.50, 4.00]", "± 0.5 Mbps",
        "too wide; 30 more seeds would do, if the spread stays as it is",
    )  # fmt: skip
    assert second[-1] == "narrow enough"


def test_a_study_of_so_many_seeds_has_no_such_table() -> None:
    assert stopping.table(collect(Results(report_results.KNOBS))) is None


@pytest.mark.parametrize(("stopped", "low", "end"), [(False, None, "still running"), (True, None, "why")])
def test_groups_without_an_interval(tmp_path: Path, stopped: bool, low: None, end: str) -> None:
    def change(data: dict[str, Any]) -> None:
        stop = {**REACHED, "low": low, "high": None, "stopped": stopped, "reason": "why"}
        data["groups"][0]["stopping"] = stop

    collected = collect(Results(report_results.copy(tmp_path, change)))
    frame = stopping.table(collected)
    assert frame is not None
    (row,) = stopping.shown(frame, collected).rows
    assert (row[3], row[-1]) == ("3.00", end)
