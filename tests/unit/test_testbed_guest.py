"""When the agent takes the steps of a trial."""

from __future__ import annotations

from types import SimpleNamespace
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


def test_a_browser_that_dies_before_its_flow_begins_ends_no_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    plan: Any = {"flows": [{"start_ns": S}], "schedule": [], "duration_ns": 8 * S}
    trial = Trial(plan)
    browser: Any = SimpleNamespace(name="flow0.receiver", reap=lambda: True)
    trial.processes, trial.early = [browser], {0: browser}
    assert not trial.all_received()
    trial.start_client(0)
    assert trial.all_received()
