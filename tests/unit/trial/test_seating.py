"""The way of a trial's flows into the guest and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.testbed.contract import GuestReport
from cambrian.trial import links, seating

NETWORK = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1, loss_percent=1)
NAMES = ["cubic", "reno", "bbr", "vegas"]


def trial(*positions: int) -> Trial:
    flows = tuple(
        Flow(contestant=Contestant(stack="tcp", cca=cca), start_ms=10.0 * number)
        for number, cca in enumerate(NAMES[: len(positions)])
    )
    return Trial(network=NETWORK, flows=flows, positions=positions, duration_s=5)


def test_without_positions_each_flow_sits_at_its_own_number() -> None:
    plain = Trial(network=NETWORK, flows=trial(0, 1).flows, duration_s=5)
    assert plain.positions == (0, 1)
    assert seating.seated(plain) == plain


def test_the_guest_has_the_flows_by_position() -> None:
    seated = seating.seated(trial(2, 0, 1))
    assert [flow.contestant.cca for flow in seated.flows] == ["reno", "bbr", "cubic"]
    # each keeps its own start
    assert [flow.start_ms for flow in seated.flows] == [10, 20, 0]
    assert seated.positions == (0, 1, 2)


@given(st.permutations(range(4)))
def test_what_the_guest_says_of_a_position_is_said_of_its_flow(positions: list[int]) -> None:
    one = trial(*positions)
    names = [flow.contestant.cca for flow in seating.seated(one).flows]
    report = {
        "base_rtt_ns": names,
        "counters": {"flows": names, "receiver": 1},
        "problems": [f"flow{number}.sender ended, as {name}" for number, name in enumerate(names)],
        "killed": [],
        "processes": {f"flow{number}.receiver": name for number, name in enumerate(names)} | {"capture": 0},
    }
    kept = cast("dict[str, Any]", seating.kept_report(cast("GuestReport", report), one))
    assert kept["base_rtt_ns"] == NAMES
    assert kept["counters"] == {"flows": NAMES, "receiver": 1}
    assert sorted(kept["problems"]) == [
        f"flow{number}.sender ended, as {name}" for number, name in enumerate(NAMES)
    ]
    assert kept["processes"] == {
        **{f"flow{number}.receiver": name for number, name in enumerate(NAMES)},
        "capture": 0,
    }
    packets = pl.DataFrame({"flow": pl.Series([0, 1, 2, 3], dtype=pl.UInt16), "name": names})
    numbered = seating.flow_numbers(packets, one)
    assert numbered.schema == packets.schema
    assert [NAMES[flow] for flow in numbered["flow"]] == names


def test_what_a_guest_left_is_said_of_its_flow() -> None:
    texts = ("flow0.sender.out has 40 MiB", "flow2.sender.logs/qlog is a pipe", "the guest left many files")
    assert seating.renamed(texts, trial(2, 0, 1)) == (
        "flow1.sender.out has 40 MiB",
        "flow0.sender.logs/qlog is a pipe",
        "the guest left many files",
    )


def test_files_change_their_numbers(tmp_path: Path) -> None:
    for name, text in (("flow0.sender.out", "reno"), ("flow1.sender.out", "cubic"), ("capture.out", "c")):
        (tmp_path / name).write_text(text)
    (tmp_path / "flow1.qlog").mkdir()
    seating.rename_files(tmp_path, trial(1, 0))
    assert {path.name for path in tmp_path.iterdir()} == {
        "flow0.sender.out",
        "flow1.sender.out",
        "flow0.qlog",
        "capture.out",
    }
    assert (tmp_path / "flow0.sender.out").read_text() == "cubic"
    assert (tmp_path / "flow1.sender.out").read_text() == "reno"


def test_a_flow_alone_may_have_the_losses_of_another_position() -> None:
    seated = seating.seated(trial(3))
    assert seated.positions == (3,)
    alone = cast("GuestReport", {"base_rtt_ns": [7]})
    assert seating.kept_report(alone, trial(3)) == alone
    (flow,) = seated.flows
    seed = links.access(NETWORK, flow, *seated.positions, seated.seed)["forward"]["prng_seed"]
    assert seed == links.link_seed(1, 3, "forward") != links.link_seed(1, 0, "forward")


def test_a_step_of_the_schedule_keeps_what_earlier_steps_set() -> None:
    steps = [
        {"at_s": 1, "return_loss_percent": 100},
        {"at_s": 2, "rtt_ms": 30},
        {"at_s": 3, "return_loss_percent": 0, "loss_percent": 2},
    ]
    network = NETWORK.model_validate(NETWORK.model_dump() | {"schedule": steps})
    made = [
        step["links"][0] for step in links.schedule(trial(0).model_copy(update={"network": network}), 9999)
    ]
    assert [one["back"]["loss_percent"] for one in made] == [100, 100, 0]
    assert [one["forward"]["loss_percent"] for one in made] == [1, 1, 2]
    assert [one["forward"]["delay_ns"] for one in made][1:] == [15_000_000, 15_000_000]


@pytest.mark.parametrize("positions", [(0,), (0, 0), (0, 64), (0, -1), (0, 1, 2)])
def test_positions_that_fit_no_testbed_are_refused(positions: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="one number from 0 to 63 for each flow, all different"):
        Trial(network=NETWORK, flows=trial(0, 1).flows, positions=positions, duration_s=5)
