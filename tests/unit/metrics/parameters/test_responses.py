"""What senders with faults that are no parameter do at each loss episode."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from cambrian.metrics.parameters import loss_based, responses
from cambrian.metrics.parameters.estimate import Estimate, Measured, Missing, pooled
from cambrian.metrics.parameters.flow_trace import FlowTrace
from tests.unit.metrics.parameters.cubic_model import CubicSender
from tests.unit.metrics.parameters.faulty_senders import (
    CutsEachPacket,
    IgnoresEveryOther,
    IgnoresIsolated,
    SlowStartsBack,
)
from tests.unit.metrics.parameters.sender_model import ReducesGradually, Sender, polled


def measured(trace: FlowTrace) -> dict[str, Measured]:
    return {one.parameter: pooled([one]) for one in responses.estimate(trace) if isinstance(one, Estimate)}


@pytest.mark.parametrize("beta", [0.5, 0.7, 0.85, 0.9])
def test_each_loss_is_answered_once(beta: float) -> None:
    found = measured(CubicSender(packets=60_000, beta=beta, converging=(1 + beta) / 2).run())
    assert found["losses_answered"].value == 1.0
    # near its last maximum CUBIC grows slowly, and loses a single packet: then nothing tells of cuts
    assert "cuts_per_episode" not in found or found["cuts_per_episode"].value == 1.0
    assert ("cuts_per_episode" in found) == (beta <= 0.7)
    assert found["losses_answered"].events >= 4
    assert "marks_answered" not in found


def test_a_paced_sender_and_few_acknowledgements_change_nothing() -> None:
    for sender in (CubicSender(packets=60_000, pacing=1.25), CubicSender(packets=60_000, ack_every=10)):
        assert measured(sender.run())["losses_answered"].value == 1.0


def test_a_cut_for_each_lost_packet() -> None:
    # by Reno's growth to the first loss: slow start's overshoot would leave nothing of the window
    trace = CutsEachPacket(initial=150, growth=lambda window, acked: acked / window, packets=60_000).run()
    found = measured(trace)
    assert found["cuts_per_episode"].value >= 2
    assert found["cuts_per_episode"].events >= 4
    betas = {
        one.source: one.value
        for one in loss_based.estimate(trace)
        if isinstance(one, Estimate) and one.parameter == "beta"
    }
    assert betas["window"] == pytest.approx(0.7, abs=0.02), "the window says that all is well"


@pytest.mark.parametrize("every_ms", [0, 20, 50])
@pytest.mark.parametrize("ack_every", [1, 4, 10])
def test_steps_down_that_acknowledgements_explain_are_one_cut(ack_every: int, every_ms: int) -> None:
    """Proportional rate reduction, without a threshold: a row for each acknowledgement, or a polled log."""

    def reno(window: float, acked: int) -> float:
        return acked / window

    knobs = {"initial": 90, "growth": reno, "avoidance": reno, "packets": 40_000, "buffer_packets": 20}
    trace = ReducesGradually(beta=0.5, ack_every=ack_every, **knobs).run(family="reno")  # type: ignore[arg-type]
    if every_ms:
        trace = polled(trace, every_ms)
    (beta,) = (
        one
        for one in loss_based.estimate(trace)
        if isinstance(one, Estimate) and (one.parameter, one.source) == ("beta", "window")
    )
    assert beta.value == pytest.approx(0.5, abs=0.02)
    assert "cuts_per_episode" not in measured(trace) or measured(trace)["cuts_per_episode"].value == 1.0


def test_cuts_within_a_round_trip_tell_where_packets_do_not() -> None:
    knobs = {"initial": 150, "growth": lambda window, acked: acked / window, "packets": 60_000}
    found = measured(CutsEachPacket(**knobs).run(alone=False))  # type: ignore[arg-type]
    assert found["cuts_per_episode"].value >= 2
    assert "losses_answered" not in found
    assert not measured(CubicSender(**knobs).run(alone=False))  # type: ignore[arg-type]


def test_one_double_cut_does_not_speak_for_the_episodes_that_are_cut_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace = CubicSender(packets=60_000).run()
    once = measured(trace)["cuts_per_episode"].events
    monkeypatch.setattr(responses, "cuts_in_round_trips", lambda own, rtt_ns: np.array([1, 3, 3]))
    assert measured(trace)["cuts_per_episode"].value == 3.0, "as many as two of seven are a rule"
    monkeypatch.setattr(responses, "RARE", 2.1 / (2 + once))
    (cuts,) = (one for one in responses.estimate(trace) if one.parameter == "cuts_per_episode")
    assert isinstance(cuts, Missing) and f"only 2 of {2 + once} such episodes" in cuts.why


def test_where_the_delay_changes_two_cuts_may_be_a_round_trip_apart() -> None:
    knobs = {"initial": 150, "growth": lambda window, acked: acked / window, "packets": 60_000}
    trace = replace(CutsEachPacket(**knobs).run(), steady=False)  # type: ignore[arg-type]
    assert "cuts_per_episode" not in measured(trace)
    (cuts,) = (one for one in responses.estimate(trace) if one.parameter == "cuts_per_episode")
    assert isinstance(cuts, Missing) and cuts.why == "the path changes"


def test_every_other_event_ignored() -> None:
    found = measured(IgnoresEveryOther(packets=60_000).run())
    assert found["losses_answered"].high < 0.8


def test_isolated_losses_ignored() -> None:
    found = measured(IgnoresIsolated(packets=60_000).run())
    assert found["losses_answered"].high < 0.8


@pytest.mark.parametrize("late", [3, 220, 400])
@pytest.mark.parametrize("has_log", [True, False])
def test_a_loss_that_is_declared_late_is_answered(late: int, has_log: bool) -> None:
    """A loss counts once so many later packets have arrived; a round trip of this path has 80 to 165."""
    # by Reno's growth to the first loss, as above
    reno = Sender(
        initial=150,
        growth=lambda window, acked: acked / window,
        avoidance=lambda window, acked: acked / window,
        beta=0.5,
        packets=60_000,
        threshold=late,
        waits=True,
    )
    trace = reno.run(family="reno")
    if not has_log:
        trace = replace(trace, transport=trace.transport.clear())
    found = measured(trace)["losses_answered"]
    assert found.value == 1.0
    assert found.events >= 4


@pytest.mark.parametrize("late_ms", [5, 50, 150])
def test_a_log_that_is_late_accuses_nobody(late_ms: int) -> None:
    trace = CubicSender(packets=60_000).run()
    late = trace.transport.with_columns(pl.col("time_ns") + late_ms * 1_000_000)
    assert measured(replace(trace, transport=late))["losses_answered"].value == 1.0


def test_slow_start_back_to_the_old_window() -> None:
    trace = SlowStartsBack(packets=60_000).run()
    found = measured(trace)
    assert found["losses_answered"].high < 0.5
    assert (trace.packets["outcome"] == "dropped").mean() > 0.3  # type: ignore[operator]


def marked(trace: FlowTrace, every: int) -> FlowTrace:
    """The same trace with a CE mark on each so many of its packets."""
    packets = trace.packets.with_columns(ce=pl.Series(np.arange(trace.packets.height) % every == every - 1))
    return FlowTrace(**(vars(trace) | {"packets": packets}))


def test_marks_without_an_answer() -> None:
    # a window that never moves, as large as the path: no drop
    trace = Sender(initial=80, growth=lambda window, acked: 0.0, packets=20_000).run()
    found = measured(marked(trace, 2_000))
    assert found["marks_answered"].high < 0.1
    assert "losses_answered" not in found


def test_what_cannot_be_seen_is_missing() -> None:
    trace = CubicSender(packets=5_000)
    assert not measured(trace.run(random_loss=True))
    lossy = CubicSender(packets=60_000).run(random_loss=True)
    assert not measured(lossy), "one cut a round trip is what any sender does"
    assert not measured(CubicSender(packets=5_000).run(alone=False))
    assert not list(responses.estimate(CubicSender(packets=5_000).run(family="bbr")))
