"""When the agent takes the steps of a trial."""

from __future__ import annotations

from typing import Any

import pytest

from cambrian.testbed.guest import Trial

S = 1_000_000_000


@pytest.mark.parametrize(
    ("received_s", "taken_s", "early"), [(3, [2], True), (5, [2, 4], True), (9, [2, 4, 6], False)]
)
def test_a_trial_with_a_schedule_ends_with_its_receivers_too(
    monkeypatch: pytest.MonkeyPatch, received_s: int, taken_s: list[int], early: bool
) -> None:
    plan: Any = {"flows": [], "schedule": [{"at_ns": at_s * S} for at_s in (2, 4, 6)], "duration_ns": 8 * S}
    taken: list[int] = []
    monkeypatch.setattr(Trial, "change_link", lambda self, change: taken.append(change["at_ns"] // S))
    monkeypatch.setattr(Trial, "wait_until", lambda self, when_ns: when_ns > received_s * S)
    assert Trial(plan).play(0) is early
    assert taken == taken_s
