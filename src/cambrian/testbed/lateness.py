"""How late a machine wakes a program in real time: only its speed and its load decide it."""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cambrian.testbed.contract import LatenessReport

#: length of one wait. Waits of this length see every pause that is longer than the spare time of the link
STEP_NS = 10_000_000


class Lateness:
    """Waits, and how late each of them ended, in nanoseconds."""

    def __init__(self) -> None:
        self._late_ns: list[int] = []

    def wait(self, descriptors: list[int]) -> None:
        """Wait for :data:`STEP_NS`, or until a descriptor is readable; that says nothing about lateness."""
        until_ns = time.monotonic_ns() + STEP_NS
        if not select.select(descriptors, [], [], STEP_NS / 1e9)[0]:
            self._late_ns.append(max(time.monotonic_ns() - until_ns, 0))

    def report(self) -> LatenessReport:
        """The figures for the guest's report."""
        return {
            "waits": len(self._late_ns),
            "mean_ns": sum(self._late_ns) // max(len(self._late_ns), 1),
            "worst_ns": max(self._late_ns, default=0),
        }
