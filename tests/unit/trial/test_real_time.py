"""Agrees, differs, or cannot be told on this machine: the three outcomes of real time against virtual."""

from __future__ import annotations

from typing import Any

import pytest

from cambrian.selftest import clocks
from cambrian.selftest.check import Check
from cambrian.trial import real_time

MS = 1_000_000
SAME = Check("throughput", "10 Mbps", "10 Mbps", ok=True)
OTHER = Check("throughput", "10 Mbps", "8 Mbps", ok=False)


def report(waits: int, mean_ms: float, worst_ms: float) -> Any:
    """What a guest says of its waits."""
    return {"lateness": {"waits": waits, "mean_ns": round(mean_ms * MS), "worst_ns": round(worst_ms * MS)}}


def test_a_guest_in_virtual_time_is_never_behind() -> None:
    assert real_time.behind({}) is None  # type: ignore[typeddict-item]


def test_short_waits_and_few_late_ones_are_no_sign() -> None:
    assert real_time.behind(report(1100, 0.2, 40)) is None


@pytest.mark.parametrize(("waits", "mean_ms", "worst_ms"), [(1000, 2, 20), (1000, 0.5, 250), (0, 0, 0)])
def test_late_on_average_or_once_for_long_or_never_woken_is_behind(
    waits: int, mean_ms: float, worst_ms: float
) -> None:
    said = real_time.behind(report(waits, mean_ms, worst_ms))
    assert said is not None
    assert f"{worst_ms:.0f} ms at worst" in said


def test_the_same_figures_pass_also_on_a_machine_that_is_late() -> None:
    assert clocks.judged([SAME, SAME], "late") == [SAME, SAME]


def test_a_difference_on_a_machine_that_keeps_up_is_a_failure() -> None:
    assert clocks.judged([SAME, OTHER], None) == [SAME, OTHER]


def test_a_difference_on_a_machine_that_is_late_is_neither_passed_nor_failed() -> None:
    (row,) = clocks.judged([SAME, OTHER], "woken late")
    assert row.ok is None
    assert "this machine cannot keep up; woken late" in row.measured
