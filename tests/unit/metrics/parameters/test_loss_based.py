"""Estimators for loss-based controllers on senders whose parameters are known."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from cambrian.metrics.parameters import loss_based
from cambrian.metrics.parameters.estimate import Estimate, Measured, Missing, pooled
from cambrian.metrics.parameters.flow_trace import FlowTrace
from tests.unit.metrics.parameters.cubic_model import CubicSender
from tests.unit.metrics.parameters.sender_model import (
    PAYLOAD,
    RTT,
    START,
    InTrains,
    ReducesGradually,
    Sender,
    in_small_frames,
    polled,
    steady,
    trace_of,
    transport_of,
)

BOTH = ["window", "packets"]


def measured(trace: FlowTrace) -> dict[tuple[str, str], Measured]:
    """(parameter, source) → what the trace says."""
    found = [one for one in loss_based.estimate(trace) if isinstance(one, Estimate)]
    assert len({(one.parameter, one.source) for one in found}) == len(found)
    return {(one.parameter, one.source): pooled([one]) for one in found}


def missing(trace: FlowTrace) -> dict[tuple[str, str], str]:
    return {
        (one.parameter, one.source): one.why for one in loss_based.estimate(trace) if isinstance(one, Missing)
    }


@cache
def cubic(packets: int = 60_000, **knobs: Any) -> dict[tuple[str, str], Measured]:
    return measured(CubicSender(packets=packets, **knobs).run())


def holds(one: Measured, truth: float, *, within: float) -> bool:
    """Is the truth inside the interval, and the interval no wider than that?"""
    return one.low <= truth <= one.high and one.high - one.low <= 2 * within


@pytest.mark.parametrize("source", BOTH)
@pytest.mark.parametrize("beta", [0.6, 0.7, 0.75, 0.85])
def test_beta(source: str, beta: float) -> None:
    found = cubic(beta=beta, converging=(1 + beta) / 2)
    assert holds(found["beta", source], beta, within=0.045)
    assert holds(found["emulated_connections", source], 0.3 / (1 - beta), within=0.7)
    assert found["rollback_share", source].value == 0


@pytest.mark.parametrize("ack_every", [4, 8, 10, 11])
@pytest.mark.parametrize("beta", [0.5, 0.7])
def test_the_silence_between_two_acknowledgements_is_no_cuts(ack_every: int, beta: float) -> None:
    """Proportional rate reduction behind rare acknowledgements: the flight falls over a round trip."""

    def reno(window: float, acked: int) -> float:
        return acked / window

    knobs = {"initial": 90, "growth": reno, "avoidance": reno, "packets": 40_000, "buffer_packets": 20}
    sender = ReducesGradually(beta=beta, ack_every=ack_every, **knobs)  # type: ignore[arg-type]
    found = measured(sender.run(family="reno"))["beta", "packets"]
    assert found.events >= 4
    assert holds(found, beta, within=0.08)


@pytest.mark.parametrize("train", [16, 30, 44])
@pytest.mark.parametrize("beta", [0.5, 0.7])
def test_a_window_is_read_when_the_first_train_after_a_cut_has_left(train: int, beta: float) -> None:
    """After eight packets of a train of 44 most of the window was still free: 0.29 for Reno's 0.5."""

    def reno(window: float, acked: int) -> float:
        return acked / window

    knobs = {"initial": 90, "growth": reno, "avoidance": reno, "packets": 40_000}
    sender = InTrains(beta=beta, train=train, **knobs)  # type: ignore[arg-type]
    assert holds(measured(sender.run(family="reno"))["beta", "packets"], beta, within=0.045)


@pytest.mark.parametrize("every_ms", [50, 200, 500, 1000])
def test_a_polled_log_does_not_show_the_window_at_a_cut(every_ms: int) -> None:
    """Between a row and the cut the window grows: by Reno's law by 13 packets in a second of 75 ms each."""

    def reno(window: float, acked: int) -> float:
        return acked / window

    knobs = {"initial": 90, "growth": reno, "avoidance": reno, "packets": 60_000, "buffer_packets": 20}
    sender = Sender(beta=0.5, ack_every=2, **knobs)  # type: ignore[arg-type]
    found = measured(polled(sender.run(family="reno"), every_ms))
    assert holds(found["beta", "packets"], 0.5, within=0.08)
    if every_ms >= 500:
        assert ("beta", "window") not in found
    else:
        assert found["beta", "window"].low <= 0.5 <= found["beta", "window"].high


def test_neighbouring_betas_are_told_apart() -> None:
    assert cubic(beta=0.7)["beta", "packets"].high < 0.75 < cubic(beta=0.7)["beta", "packets"].high + 0.05
    assert cubic(beta=0.75, converging=0.875)["beta", "window"].low > cubic(beta=0.7)["beta", "window"].high


@pytest.mark.parametrize("c", [0.4, 1.2])
def test_c(c: float) -> None:
    found = cubic(c=c)
    assert holds(found["cubic_c", "window"], c, within=0.35 * c)
    k_s = (50 / c) ** (1 / 3)
    assert found["cubic_k_s", "window"].value == pytest.approx(k_s, rel=0.1)


@pytest.mark.parametrize("converging", [0.85, 1.0])
def test_fast_convergence(converging: float) -> None:
    found = cubic(converging=converging)
    assert holds(found["fast_convergence", "window"], converging, within=0.03)


def test_fast_convergence_without_a_window_needs_more_losses() -> None:
    assert ("fast_convergence", "packets") not in cubic()
    assert holds(cubic(packets=110_000)["fast_convergence", "packets"], 0.85, within=0.06)


def test_packets_that_grow_in_mid_flow_do_not_make_alpha_slow() -> None:
    """1,200 bytes until the sender finds a larger MTU: α of 0.529 was 0.43 of the later packets."""
    trace = CubicSender(packets=46_000, buffer_packets=25, ack_every=2, waits=True).run()
    small, at_ns = 1200 / PAYLOAD, int(trace.packets["arrival_ns"][40_000])

    def smaller(column: str, time: str) -> pl.Expr:
        return pl.when(pl.col(time) < at_ns).then(pl.col(column) * small).otherwise(pl.col(column))

    packets = trace.packets.with_columns(smaller("size_bytes", "arrival_ns").cast(pl.UInt16))
    transport = trace.transport.with_columns(smaller("cwnd_bytes", "time_ns").cast(pl.Int64))
    found = measured(replace(trace, packets=packets, transport=transport))["alpha", "window"]
    assert found.value < 0.46
    assert found.low < 0.529 < found.high
    assert measured(trace)["alpha", "window"].low > 0.46


def test_reno_friendly_alpha() -> None:
    assert holds(cubic()["alpha", "window"], 0.529, within=0.1)
    assert holds(cubic(alpha=1.0)["alpha", "window"], 1.0, within=0.15)
    assert cubic()["reno_friendly", "window"].label == "yes"
    never = cubic(alpha=0.0)
    assert ("alpha", "window") not in never
    assert never["reno_friendly", "window"].label == "no"


def test_the_older_rule_for_k_is_recognised() -> None:
    assert cubic()["cubic_k_rule", "window"].label == "window"
    older = cubic(rfc8312=True)
    assert older["cubic_k_rule", "window"].label == "β·W_max"
    assert holds(older["cubic_c", "window"], 0.4, within=0.15)


@pytest.mark.parametrize("source", BOTH)
def test_reductions_that_are_taken_back(source: str) -> None:
    found = cubic(taken_back=3)
    assert holds(found["rollback_share", source], 2 / 3, within=0.3)
    assert found["rollback_share", source].low > 0.2
    assert holds(found["beta", source], 0.7, within=0.06)


def test_where_packets_come_late_a_cut_may_be_taken_back() -> None:
    trace = replace(CubicSender(packets=60_000, taken_back=3).run(), steady=False, changing="it jitters")
    assert not any(parameter in ("rollback_share", "regrown_share") for parameter, _ in measured(trace))
    assert missing(trace)["rollback_share", "window"] == "it jitters"


def test_growth_back_to_the_old_window_is_not_taken_back() -> None:
    """Slow start after each cut: each acknowledgement lets the window grow by a packet."""

    def back(window: float, acked: int) -> float:
        return float(acked) if window < 160 else acked / window

    found = measured(Sender(avoidance=back, beta=0.7, packets=60_000).run(family="reno"))
    assert found["rollback_share", "window"].value == 0
    assert found["regrown_share", "window"].low > 0.2
    assert holds(found["beta", "window"], 0.7, within=0.05)


def with_threshold(trace: FlowTrace) -> FlowTrace:
    """The same, with the window after each cut as the threshold from then on."""
    cut = pl.when(pl.col("cwnd_bytes").diff() < 0).then(pl.col("cwnd_bytes"))
    return replace(trace, transport=trace.transport.with_columns(ssthresh_bytes=cut.forward_fill()))


def reno_with_threshold(**knobs: Any) -> FlowTrace:
    reno = Sender(avoidance=lambda window, acked: acked / window, beta=0.5, packets=60_000, **knobs)
    return with_threshold(reno.run(family="reno"))


@pytest.mark.parametrize("waits", [True, False])
def test_growth_in_recovery(waits: bool) -> None:
    """Acknowledgements of packets that were sent before a cut let the window grow, or not."""
    trace = reno_with_threshold(waits=waits)
    assert holds(measured(trace)["recovery_growth", "window"], 0.0 if waits else 1.0, within=0.25)
    silent = replace(trace, transport=trace.transport.with_columns(ssthresh_bytes=None))
    assert ("recovery_growth", "window") not in measured(silent)
    assert missing(replace(trace, steady=False))["recovery_growth", "window"] == "the path changes"


@pytest.mark.parametrize("packets", [10, -10])
def test_a_window_that_is_inflated_or_comes_from_below_in_recovery_does_not_grow(packets: int) -> None:
    """For 80 ms after the row of a cut the window is other: RFC 5681's inflation, or RFC 6937."""
    trace = reno_with_threshold(waits=True)
    rows = trace.transport
    cut_ns = rows.filter(pl.col("cwnd_bytes").diff() < 0)["time_ns"].to_numpy()
    time_ns = rows["time_ns"].to_numpy()
    since_ns = time_ns - cut_ns[(np.searchsorted(cut_ns, time_ns, side="right") - 1).clip(min=0)]
    other = (since_ns > 0 if packets > 0 else since_ns >= 0) & (since_ns < 80_000_000)
    window = rows["cwnd_bytes"].to_numpy() + np.where(other, packets * PAYLOAD, 0)
    changed = replace(trace, transport=rows.with_columns(cwnd_bytes=pl.Series(window)))
    assert measured(changed)["recovery_growth", "window"].value == 0


def halved_now_and_then() -> FlowTrace:
    """A window that is halved every 14,000 packets, whatever happens, and cut to 0.7 after losses."""
    sent = 0

    def avoidance(window: float, acked: int) -> float:
        nonlocal sent
        sent += acked
        return -window / 2 if sent % 14_000 < acked else acked / window

    return Sender(avoidance=avoidance, beta=0.7, packets=90_000).run(family="reno")


def test_a_cut_without_a_loss_is_no_beta() -> None:
    trace = halved_now_and_then()
    found = measured(trace)
    assert holds(found["beta", "window"], 0.7, within=0.05)
    assert 0.2 < found["unexplained_cuts", "window"].value < 0.8
    # on a path that loses packets itself, the queue does not show why a window is cut
    assert ("unexplained_cuts", "window") in missing(replace(trace, random_loss=True))
    # nor does a log that tells of no loss show those behind the queue
    silent = trace.transport.with_columns(event=pl.lit("ack"))
    assert ("unexplained_cuts", "window") in missing(replace(trace, transport=silent))
    assert cubic()["unexplained_cuts", "window"].value == 0


def test_a_log_that_calls_each_fall_a_loss_explains_none_that_the_queue_does_not() -> None:
    """As the one above, with cuts seconds after the last drop, and a log whose loss rows are the falls."""
    trace = halved_now_and_then()
    falls = pl.col("cwnd_bytes") < pl.col("cwnd_bytes").shift(1)
    rows = trace.transport.with_columns(event=pl.when(falls).then(pl.lit("loss")).otherwise(pl.lit("ack")))
    found = measured(replace(trace, transport=rows))
    # of the halvings, two come more than two seconds after a drop, which may be learnt of late
    assert found["unexplained_cuts", "window"].value == pytest.approx(2 / 16)
    # a slow receiver's socket may lose packets that have left the queue
    slow = replace(trace, transport=rows, slow_receiver=True)
    assert ("unexplained_cuts", "window") in missing(slow)


def test_a_cut_of_an_unused_window_is_allowed_where_most_frames_are_small() -> None:
    """A window of 100 segments with 60 in flight: most frames are small, so the flight has more of them."""
    trace = in_small_frames(Sender(packets=20_000, initial=60, growth=steady).run(family="reno"))
    times_ns = [START + second * 1_000_000_000 for second in (0, 1, 6, 8)]
    events, windows = ("ack", "loss", "ack", "ack"), (200, 100, 60, 60)
    rows = transport_of(list(zip(times_ns, events, windows, strict=True)))
    assert measured(replace(trace, transport=rows))["unexplained_cuts", "window"].value == 0


def test_acks_in_a_silence_after_a_loss_are_not_the_flight() -> None:
    """A sender may answer its receiver's probe while its window lets no data go."""
    sender = Sender(avoidance=lambda window, acked: acked / window, beta=0.5, packets=60_000)
    trace = sender.run(family="reno")
    arrivals = trace.packets["arrival_ns"].to_numpy()
    silences = np.flatnonzero(np.diff(arrivals) > 10_000_000)
    middles = (arrivals[silences] + arrivals[silences + 1]) // 2
    control = {**trace.packets.row(0, named=True), "size_bytes": 80}
    rows = [{**control, "arrival_ns": int(at), "departure_ns": int(at)} for at in middles]
    answered = pl.concat([trace.packets, pl.DataFrame(rows, schema=trace.packets.schema)]).sort("arrival_ns")
    assert len(rows) > 5
    found = measured(replace(trace, packets=answered))["beta", "packets"]
    assert holds(found, 0.5, within=0.045)


class Blocked(Sender):
    """A receiver without credit for more, until the packet is repaired that an event lost first."""

    blocked_until = 0

    def _loss(self, now: int, count: int) -> None:
        if now > self.recovered:
            self.blocked_until = now + 9 * RTT // 5
            self._at(self.blocked_until, "go", 0)
        super()._loss(now, count)

    def _go(self, now: int, count: int) -> None:
        if now >= self.blocked_until:
            super()._go(now, count)


def test_a_silence_that_is_not_the_windows_is_no_reduction() -> None:
    """The flight falls to a few packets and comes back; the window fell to 0.7 once."""
    knobs = {"avoidance": lambda window, acked: acked / window, "beta": 0.7, "packets": 60_000}
    found = measured(Blocked(pacing=1.25, **knobs).run())  # type: ignore[arg-type]
    assert holds(found["beta", "window"], 0.7, within=0.045)
    assert ("beta", "packets") not in found
    # without a pacer, the train after the silence fills the window
    assert holds(measured(Blocked(**knobs).run())["beta", "packets"], 0.7, within=0.05)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", BOTH)
@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_reno_increase(source: str, alpha: float) -> None:
    sender = Sender(avoidance=lambda window, acked: alpha * acked / window, beta=0.5, packets=60_000)
    found = measured(sender.run(family="reno"))
    assert holds(found["alpha", source], alpha, within=0.2)
    assert holds(found["beta", source], 0.5, within=0.045)
    assert ("cubic_c", source) not in found


def test_a_cut_that_is_taken_back_after_many_round_trips_is_no_growth() -> None:
    """As kernel Reno where 1 % of the packets come twice: it learns after a second that nothing was lost."""
    peak = last = since = 0.0

    def avoidance(window: float, acked: int) -> float:
        nonlocal peak, last, since
        if window < last - 10:
            peak, since = last, 0.0
        since += acked
        back = peak - window if peak > window + 10 and since > 12 * window else 0.0
        last = window + max(back, acked / window)
        return last - window

    sender = Sender(avoidance=avoidance, beta=0.5, packets=60_000)
    found = measured(sender.run(family="reno"))
    assert holds(found["alpha", "window"], 1.0, within=0.2)


@pytest.mark.parametrize("source", BOTH)
def test_a_largest_window(source: str) -> None:
    sender = Sender(growth=lambda window, acked: min(acked, 107 - window), packets=20_000)
    found = measured(sender.run())
    assert holds(found["max_window_packets", source], 107, within=2)
    assert ("max_window_packets", source) not in cubic()


def test_what_cannot_be_seen_is_missing() -> None:
    quiet = Sender(initial=20, growth=lambda window, acked: 0.0, packets=2_000).run()
    assert missing(quiet)["beta", "window"] == "no congestion event"
    assert missing(quiet)["beta", "packets"] == "no congestion event"
    lossy = Sender(packets=2_000).run(random_loss=True)
    assert "before the capture point" in missing(lossy)["beta", "packets"]
    shared = Sender(packets=2_000).run(alone=False)
    assert "other flows" in missing(shared)["cubic_c", "packets"]
    unsteady = Sender(packets=2_000).run(steady=False, changing="the link's rate follows a trace")
    assert missing(unsteady)["beta", "packets"] == (
        "the link's rate follows a trace, so the flight is unknown"
    )


def test_rare_acknowledgements_hide_the_window() -> None:
    trace = CubicSender(packets=60_000).run()
    departed = int((trace.packets["outcome"] == "departed").sum())
    assert "hides the window" in missing(replace(trace, acks=departed // 32))["beta", "packets"]
    rare = measured(replace(trace, acks=departed // 32))
    assert ("beta", "window") in rare
    assert ("beta", "packets") in measured(replace(trace, acks=departed // 10))


def test_other_families_and_empty_traces() -> None:
    assert list(loss_based.estimate(Sender(packets=2_000).run(family="bbr"))) == []
    empty = trace_of(Sender(packets=200).run().packets.clear(), end_ns=10**9)
    assert not measured(empty)


def test_a_window_of_nothing_has_no_maximum() -> None:
    trace = Sender(packets=2000).run()
    empty = trace.transport.with_columns(cwnd_bytes=pl.lit(0, pl.Int64))
    assert missing(replace(trace, transport=empty))["max_window_packets", "window"] == "no window"


def test_a_window_that_grows_without_acknowledgements_has_no_increase() -> None:
    """Of a flow whose packets are nearly all still in the queue."""
    trace = Sender(avoidance=lambda window, acked: acked / window, beta=0.5, packets=60_000).run(
        family="reno"
    )
    first_ns, last_ns = int(trace.packets["arrival_ns"][-1]), trace.end_ns
    waiting = pl.when(pl.col("arrival_ns") < first_ns).then(None).otherwise(last_ns).alias("departure_ns")
    packets = trace.packets.with_columns(waiting)
    assert ("alpha", "window") in missing(replace(trace, packets=packets))
