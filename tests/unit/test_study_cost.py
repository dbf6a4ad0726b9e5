"""Predicted trials and wall time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.study.cost import Cost, Speed, estimate, rough_time
from cambrian.study.model import Change, Clock, Contestant, Flow, Group, Network, Page, PageObjects, Trial

SPEED = Speed(ratios={"tcp": 30.0, "quinn": 10.0}, other=5.0, boot_s=0.5)


def group(*stacks: str, trials: int = 1, rate_mbps: float = 20, clock: Clock = "virtual") -> Group:
    trial = Trial(
        network=Network(name="n", rate_mbps=rate_mbps, rtt_ms=50, buffer_bdp=1),
        flows=tuple(Flow(contestant=Contestant(stack=stack, cca="cubic")) for stack in stacks),
        duration_s=60,
        clock=clock,
    )
    return Group(
        key="k", design="pairwise", network="n", subject="s", reference=None, trials=(trial,) * trials
    )


def test_time_is_shared_by_stacks_and_grows_with_packets() -> None:
    assert estimate([group("tcp", "tcp")], SPEED, jobs=1).wall_s == pytest.approx(0.5 + 2)
    assert estimate([group("tcp", "quinn")], SPEED, jobs=1).wall_s == pytest.approx(0.5 + 1 + 3)
    assert estimate([group("tcp", rate_mbps=100)], SPEED, jobs=1).wall_s == pytest.approx(0.5 + 10)
    assert estimate([group("other")], SPEED, jobs=1).wall_s == pytest.approx(0.5 + 12)
    assert estimate([group("tcp", clock="real")], SPEED, jobs=1).wall_s == pytest.approx(60.5)


def test_a_pages_bytes_take_their_time() -> None:
    def load(size_bytes: int) -> float:
        page = Page(name="p", objects=(PageObjects(count=1, size_bytes=size_bytes),))
        flow = Flow(contestant=Contestant(stack="quinn", cca="cubic"), page=page, client="light")
        trial = group("quinn").trials[0].model_copy(update={"flows": (flow,)})
        return SPEED.wall_s(trial)

    # 5 MB are two seconds of 20 Mbps
    assert load(10_000_000) - load(5_000_000) == pytest.approx(2 / 10)


def test_the_steps_of_a_schedule_have_their_rates() -> None:
    trial = group("tcp").trials[0]
    steps = tuple(
        Change(at_s=at_s, rate_mbps=rate_mbps) for at_s, rate_mbps in ((30, 200), (45, 20), (90, 500))
    )
    network = trial.network.model_copy(
        update={"schedule": (*steps[:1], Change(at_s=40, rtt_ms=10), *steps[1:])}
    )
    # 30 s of 20 Mbps, 15 s of 200 and 15 s of 20
    assert SPEED.wall_s(trial.model_copy(update={"network": network})) == pytest.approx(0.5 + (45 + 150) / 30)


def test_jobs_share_the_work_but_not_a_trial() -> None:
    groups = [group("tcp", trials=4)]
    assert estimate(groups, SPEED, jobs=2) == Cost(trials=4, virtual_s=240, wall_s=5.0, jobs=2)
    assert estimate(groups, SPEED, jobs=100).wall_s == 2.5
    with pytest.raises(ValueError, match="at least 1"):
        estimate(groups, SPEED, jobs=0)


def test_nothing_costs_nothing() -> None:
    assert estimate([], SPEED) == Cost(trials=0, virtual_s=0, wall_s=0, jobs=2)


def test_sentences() -> None:
    assert str(Cost(1280, 76_800, 6600, 2)) == "1,280 trials, about 1 h 50 min on these 2 cores"
    assert str(Cost(1, 60, 2.4, 1)) == "1 trial, about 2 s on this core"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "1 s"), (89, "89 s"), (90, "2 min"), (3500, "58 min"), (3599, "1 h"), (3800, "1 h"),
     (4200, "1 h 10 min"), (86_400, "24 h"), (260_000, "3 days")],
)  # fmt: skip
def test_rough_time(seconds: float, text: str) -> None:
    assert rough_time(seconds) == text


@given(
    st.lists(st.sampled_from(["tcp", "quinn", "x"]), min_size=1, max_size=5),
    st.integers(1, 9),
    st.integers(1, 9),
)
def test_more_jobs_are_never_slower_and_more_trials_never_faster(
    stacks: list[str], trials: int, jobs: int
) -> None:
    groups = [group(*stacks, trials=trials)]
    cost = estimate(groups, SPEED, jobs=jobs)
    assert estimate(groups, SPEED, jobs=jobs + 1).wall_s <= cost.wall_s
    assert estimate([*groups, group("tcp")], SPEED, jobs=jobs).wall_s >= cost.wall_s
