"""Nobody is accused of what the application, the receiver or a buffer decides."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from cambrian.report import limits
from cambrian.report.collect import Collected
from cambrian.report.tables.rows import Row
from cambrian.study.model import Contestant


def collected(*percent: float | None, reference: str = "reno", receiver: str = "own") -> Collected:
    """A contestant's trials alone, each with this percentage of the time with an unused window."""
    one = Contestant(stack="quinn", cca="reno", receiver=receiver)
    trials = [SimpleNamespace(flows=[{"window_unused_percent": value}]) for value in percent]
    cell = SimpleNamespace(network=SimpleNamespace(name="net"), page=None, names=(one.name,), trials=trials)
    families = {one.name: SimpleNamespace(reference=reference)}
    study = SimpleNamespace(contestants=[one], every_flow=[])
    return cast("Collected", SimpleNamespace(cells=[cell], families=families, study=study))


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    value: Any = SimpleNamespace(value=lambda trial, flow: trial.flows[flow]["window_unused_percent"])
    monkeypatch.setattr(limits, "_UNUSED", value)


def test_an_unused_window_in_one_trial_is_a_limit() -> None:
    assert "up to 63 % of the time" in limits.limited(collected(12, 63), "quinn reno", "net")


@pytest.mark.parametrize(
    ("found", "contestant", "network"),
    [
        (collected(12, 24), "quinn reno", "net"),
        (collected(None), "quinn reno", "net"),
        (collected(63), "quinn reno", "elsewhere"),
        (collected(63), "quinn cubic", "net"),
        (collected(63, reference="bbr"), "quinn reno", "net"),
    ],
)
def test_no_limit_without_a_sign_of_it(found: Collected, contestant: str, network: str) -> None:
    assert not limits.limited(found, contestant, network)


@pytest.mark.parametrize(("receiver", "is_withheld"), [("own", False), ("reference", False), ("slow", True)])
def test_another_receiver_withholds_what_it_may_cause(receiver: str, is_withheld: bool) -> None:
    found = collected(0, receiver=receiver)
    name = found.study.contestants[0].name
    assert bool(limits.withheld(found, name, "net")) == is_withheld
    rows: list[Row] = [
        {"by": name, "network": "net", "verdict": verdict, "more_seeds": 4}
        for verdict in ("less", "more", "equivalent")
    ]
    limits.withhold(rows, found, "by", ("less",))
    first = "inconclusive" if is_withheld else "less"
    assert [row["verdict"] for row in rows] == [first, "more", "equivalent"]
    assert not limits.limited(found, name, "net")
