"""How packets leave and are acknowledged: pacing, bursts, ACK frequency, packet threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.metrics.parameters import acks, bursts, pacing, packet_threshold, slow_start_exit
from cambrian.metrics.parameters.estimate import Estimate, Missing, pooled
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.trains import trains
from tests.unit.metrics.parameters import sender_model
from tests.unit.metrics.parameters.sender_model import PAYLOAD, InTrains, Sender, steady, transport_of


def paced(trace: object) -> dict[tuple[str, str], Estimate | Missing]:
    return {(one.parameter, one.source): one for one in pacing.estimate(trace)}  # type: ignore[arg-type]


@pytest.mark.parametrize("ack_every", [1, 2, 10])
def test_answers_to_acknowledgements_are_not_pacing(ack_every: int) -> None:
    found = paced(Sender(ack_every=ack_every, buffer_packets=500).run())
    kind = found["pacing", "packets"]
    assert isinstance(kind, Estimate) and kind.label == "unpaced"
    assert ("pacing_factor", "packets") not in found


def is_paced(trace: FlowTrace) -> str | None:
    """``paced``, ``unpaced``; None if it is missing."""
    kind = paced(trace)["pacing", "packets"]
    return kind.label if isinstance(kind, Estimate) else None


def test_a_bbr_is_not_called_unpaced_by_its_startup() -> None:
    """ngtcp2's paces at all times: its pacer lets a millisecond's packets go at once."""
    trace = Sender(buffer_packets=500).run()
    assert (is_paced(trace), is_paced(replace(trace, family="bbr"))) == ("unpaced", None)


@pytest.mark.parametrize("before_ns", [25_000, 60_000, 2_000_000])
def test_an_initial_window_in_one_go_after_a_small_frame_is_not_pacing(before_ns: int) -> None:
    """Ten packets 0.06 ms after a handshake's frame had counted as let go by a timer: 10 of 150 is enough."""
    trace = Sender(buffer_packets=20).run()
    frame = trace.packets.head(1).with_columns(size_bytes=pl.lit(164, pl.UInt16))
    first_ns = int(trace.packets["arrival_ns"][0])
    at = pl.lit(first_ns - before_ns, pl.Int64)
    frame = frame.with_columns(arrival_ns=at, departure_ns=at)
    earlier = replace(trace, packets=pl.concat([frame, trace.packets]), start_ns=trace.start_ns - before_ns)
    assert is_paced(earlier) == "unpaced"


def test_an_initial_window_in_two_goes_is_not_pacing() -> None:
    trace = Sender(buffer_packets=20).run()
    moved = pl.when(pl.int_range(pl.len()).is_between(4, 9)).then(pl.col("arrival_ns") + 300_000)
    split = trace.packets.with_columns(arrival_ns=moved.otherwise(pl.col("arrival_ns")))
    assert is_paced(replace(trace, packets=split)) == "unpaced"


@pytest.mark.parametrize("rtt_ms", [50, 80, 150])
def test_answers_to_delayed_acknowledgements_are_not_pacing(
    monkeypatch: pytest.MonkeyPatch, rtt_ms: int
) -> None:
    """Above 65 ms, 0.4 round trips are longer than the 25 ms that a receiver may wait."""
    monkeypatch.setattr(sender_model, "RTT", rtt_ms * 1_000_000)
    sender = Sender(initial=11, ack_every=2, ack_delay=25_500_000, buffer_packets=30)
    assert is_paced(sender.run()) == "unpaced"


@pytest.mark.parametrize("initial", [10, 11, 32])
def test_a_receiver_that_acknowledges_every_20_ms_paces_no_sender(initial: int) -> None:
    def run(pacing: float | None) -> FlowTrace:
        ack_every, ack_delay = 10**9, 20_000_000
        return Sender(
            initial, pacing=pacing, ack_every=ack_every, ack_delay=ack_delay, buffer_packets=500
        ).run()

    assert is_paced(run(None)) in (None, "unpaced")
    # more trains than acknowledgements are a pacer's
    assert is_paced(run(1.25)) == "paced"


@pytest.mark.parametrize("ack_delay_ms", [3, 5, 10])
@pytest.mark.parametrize("initial", [10, 11])
def test_a_receiver_with_a_short_timer_paces_no_sender(initial: int, ack_delay_ms: int) -> None:
    """A window that grows by a packet an acknowledgement sends three at a time: the third one waits."""

    def a_packet(_window: float, _acked: int) -> float:
        return 1.0

    def run(pacing: float | None) -> FlowTrace:
        ack_delay = ack_delay_ms * 1_000_000
        return Sender(
            initial, a_packet, pacing=pacing, ack_every=2, ack_delay=ack_delay, buffer_packets=500
        ).run()

    assert is_paced(run(None)) in (None, "unpaced")
    assert is_paced(run(1.25)) == "paced"


@dataclass
class InLoop(Sender):
    """It answers at the next tick of a timer, and then with all that its window allows."""

    tick_ms: int = 4

    def _go(self, now: int, count: int) -> None:
        tick = self.tick_ms * 1_000_000
        if now % tick == 0 or not self.sent:
            super()._go(now, count)
        elif not self.waiting:
            self.waiting = True
            self._at((now // tick + 1) * tick, "timer", 0)


@pytest.mark.parametrize("tick_ms", [2, 4, 8])
@pytest.mark.parametrize("ack_every", [1, 2])
def test_a_loop_that_answers_at_its_next_tick_does_not_pace(tick_ms: int, ack_every: int) -> None:
    trace = InLoop(ack_every=ack_every, tick_ms=tick_ms, buffer_packets=500).run()
    assert is_paced(trace) is None
    assert is_paced(Sender(ack_every=ack_every, pacing=1.25, buffer_packets=500).run()) == "paced"


@pytest.mark.parametrize(("initial", "train", "factor"), [(10, 4, 1.25), (33, 2, 2.0), (40, 4, 2.0)])
def test_a_pacer_on_a_slow_link_is_no_loop(
    monkeypatch: pytest.MonkeyPatch, initial: int, train: int, factor: float
) -> None:
    """An acknowledgement comes every 2 ms: quic-go and Google QUICHE on 10 Mbps were no longer paced."""
    monkeypatch.setattr(sender_model, "SERVICE", 2_000_000)
    assert is_paced(Sender(initial=initial, train=train, pacing=factor, buffer_packets=500).run()) == "paced"
    assert is_paced(InLoop(initial=initial, buffer_packets=500).run()) is None


def test_a_burst_of_credit_is_not_pacing() -> None:
    """A receiver's reader gives credit for 40 packets at once, between two acknowledgements."""
    trace = Sender(buffer_packets=500, packets=400).run()
    burst_ns = int(trace.packets["arrival_ns"][0]) + 4 * 50_000_000 + 40_300_000
    burst = pl.concat([trace.packets.tail(1)] * 40).with_columns(arrival_ns=pl.lit(burst_ns, pl.Int64))
    packets = pl.concat([trace.packets, burst]).sort("arrival_ns", maintain_order=True)
    assert is_paced(replace(trace, packets=packets)) in (None, "unpaced")


def test_a_slow_receivers_credit_is_not_pacing() -> None:
    """As an unpaced sender to a phone: "paced, with a factor of 1.80"."""
    assert is_paced(Sender(initial=32, pacing=1.8).run(slow_receiver=True)) is None


def test_a_first_round_trip_alone_does_not_tell_that_a_sender_does_not_pace() -> None:
    """A pacer may let ten packets go at once; the queue of five drops half of them."""
    assert is_paced(Sender(buffer_packets=5, packets=15).run()) is None


@pytest.mark.parametrize("factor", [1.0, 1.25, 2.0])
@pytest.mark.parametrize("train", [1, 2])
def test_the_pacing_factor_is_found_in_the_first_round_trips(factor: float, train: int) -> None:
    sender = Sender(initial=32, pacing=factor, train=train, ack_every=2, buffer_packets=500)
    found = paced(sender.run())
    kind, rate = found["pacing", "packets"], found["pacing_factor", "packets"]
    assert isinstance(kind, Estimate) and kind.label == "paced"
    assert isinstance(rate, Estimate)
    measured = pooled([rate])
    assert measured.low <= factor <= measured.high
    assert measured.high - measured.low < 0.5 * factor


def test_the_stacks_own_pacing_rate_gives_the_factor() -> None:
    trace = Sender(initial=32, pacing=1.25).run()
    window = trace.transport["cwnd_bytes"]
    told = trace.transport.with_columns(
        srtt_us=pl.lit(50_000, pl.Int64), pacing_bps=(window * 8 * 1.25 / 0.05).cast(pl.Int64)
    )
    rate = paced(replace(trace, transport=told))["pacing_factor", "window"]
    # beside another flow packets do not show whether the stack uses the rate that it exports
    assert isinstance(paced(replace(trace, transport=told, alone=False))["pacing_factor", "window"], Missing)
    assert isinstance(rate, Estimate)
    assert rate.value == pytest.approx(1.25, abs=1e-4)


def test_of_bbr_only_whether_it_paces() -> None:
    found = paced(Sender(initial=32, pacing=1.25).run(family="bbr"))
    assert set(found) == {("pacing", "packets")}


def test_a_path_that_loses_packets_does_not_show_pacing() -> None:
    assert isinstance(paced(Sender().run(random_loss=True))["pacing", "packets"], Missing)


@pytest.mark.parametrize(
    ("settings", "packets"),
    [({}, 1), ({"ack_every": 2}, 2), ({"ack_every": 10}, 10), ({"pacing": 0.9, "train": 3}, 3)],
)
def test_bursts_are_trains_or_what_an_acknowledgement_lets_go(settings: dict[str, int], packets: int) -> None:
    """A window of 60 packets: always full, or hardly ever where a pacer is slower than it allows."""
    sender = Sender(initial=60, growth=steady, packets=4000, **settings)  # type: ignore[arg-type]
    (burst,) = bursts.estimate(sender.run())
    assert isinstance(burst, Estimate)
    assert abs(burst.value - packets) <= burst.resolution


@given(st.lists(st.integers(1, 6), min_size=1, max_size=60), st.integers(100_000, 900_000))
def test_trains_are_what_was_put_together(lengths: list[int], gap_ns: int) -> None:
    arrivals = np.cumsum(
        [gap_ns if first else 500 for length in lengths for first in [True] + [False] * (length - 1)]
    )
    trace = Sender(packets=1).run()
    packets = pl.concat([trace.packets.head(1)] * len(arrivals)).with_columns(arrival_ns=arrivals)
    found = trains(replace(trace, packets=packets))
    assert found.packets.tolist() == lengths
    assert found.frame_bytes.tolist() == [1514 * length for length in lengths]


@pytest.mark.parametrize("ack_every", [1, 2, 10])
def test_packets_an_acknowledgement(ack_every: int) -> None:
    sender = Sender(initial=60, growth=steady, ack_every=ack_every, packets=6000)
    (one,) = acks.estimate(sender.run())
    assert isinstance(one, Estimate)
    assert abs(one.value - ack_every) <= one.resolution < 0.05 * ack_every


def test_a_path_that_reorders_or_duplicates_does_not_show_when_a_receiver_acknowledges() -> None:
    """A receiver acknowledges both at once: kernel TCP had been said to have 1.08 and 1.40 packets an ACK."""
    (one,) = acks.estimate(replace(Sender(packets=3000).run(), steady=False, changing="it reorders"))
    assert isinstance(one, Missing) and one.why == "it reorders"


def test_acknowledgements_of_gaps_widen_the_interval_to_both_bounds() -> None:
    """300 packets, 100 of them after a gap, 200 acknowledgements: 300/200, or 200/100."""
    trace = Sender(packets=1).run(acks=200)
    row = trace.packets.head(1)
    dropped = row.with_columns(outcome=pl.lit("dropped", row.schema["outcome"]))
    packets = pl.concat([pl.concat([dropped, row, row, row])] * 100)
    (one,) = acks.estimate(replace(trace, packets=packets))
    assert isinstance(one, Estimate)
    assert one.value == pytest.approx(1.75)
    assert one.resolution == pytest.approx(0.25 + 0.015 * 1.75)


def test_tcp_acknowledges_every_packet_until_a_gap_is_filled() -> None:
    """Ten packets in the 50 ms after a drop, each acknowledged; then 390, every second one."""
    trace = Sender(packets=1).run(protocol="tcp", acks=10 + 195)
    row = trace.packets.head(1)
    dropped = row.with_columns(outcome=pl.lit("dropped", row.schema["outcome"]))
    packets = pl.concat([dropped, *[row] * 400])
    times = np.concatenate(([0], 2_000_000 * np.arange(1, 11), 60_000_000 + 2_000_000 * np.arange(390)))
    packets = packets.with_columns(arrival_ns=times).with_columns(departure_ns=pl.col("arrival_ns"))
    (one,) = acks.estimate(replace(trace, packets=packets))
    assert isinstance(one, Estimate)
    assert one.value == pytest.approx((400 / 205 + 2) / 2)
    assert one.value - one.resolution < 2 < one.value + one.resolution


def test_packets_that_come_rarely_are_acknowledged_by_a_timer() -> None:
    (one,) = acks.estimate(Sender(initial=60, growth=steady, packets=3000).run(end_ns=60_000_000_000))
    assert isinstance(one, Missing) and "timer" in one.why


@pytest.mark.parametrize("count", [None, 7])
def test_too_few_acknowledgements_tell_nothing(count: int | None) -> None:
    assert isinstance(next(acks.estimate(Sender().run(acks=count))), Missing)


def one_a_round_trip(window: float, acked: int) -> float:
    return acked / window


def drops(threshold: int, ack_every: int, protocol: str = "quic") -> Estimate | Missing:
    """A window that grows by a packet a round trip and loses one at a time."""
    sender = Sender(
        initial=70,
        growth=one_a_round_trip,
        avoidance=one_a_round_trip,
        threshold=threshold,
        ack_every=ack_every,
        buffer_packets=20,
        packets=6000,
    )
    (one,) = packet_threshold.estimate(sender.run(protocol=protocol))
    return one


@pytest.mark.parametrize("threshold", [3, 30])
@pytest.mark.parametrize("ack_every", [1, 2])
def test_the_packet_threshold_is_counted(threshold: int, ack_every: int) -> None:
    one = drops(threshold, ack_every)
    assert isinstance(one, Estimate), one
    assert abs(one.value - threshold) <= one.resolution


@pytest.mark.parametrize(
    ("random_loss", "said"),
    [(False, "the link's rate changes"), (True, "packets are also lost before the queue")],
)
def test_what_hides_the_packet_threshold_is_said(random_loss: bool, said: str) -> None:
    trace = Sender(packets=2000).run(
        steady=False, changing="the link's rate changes", random_loss=random_loss
    )
    (one,) = packet_threshold.estimate(trace)
    assert isinstance(one, Missing) and one.why == said


def test_a_slow_receivers_acknowledgements_come_at_unknown_times() -> None:
    trace = Sender(packets=2000).run(slow_receiver=True)
    estimates = (*packet_threshold.estimate(trace), *slow_start_exit.estimate(trace))
    assert {(one.parameter, one.source) for one in estimates} == {
        ("packet_threshold", "window"),
        ("slow_start_exit", "window"),
        ("slow_start_exit", "packets"),
    }
    assert all(isinstance(one, Missing) and "late" in one.why for one in estimates)


def test_rare_acknowledgements_hide_a_small_threshold() -> None:
    """s2n-quic's had been said to be −2 ± 4 packets."""
    one = drops(3, 10)
    assert isinstance(one, Missing) and "covers about 10 packets" in one.why
    large = drops(30, 10)
    assert isinstance(large, Estimate) and abs(large.value - 30) <= large.resolution


def test_bunches_of_acknowledgements_hide_a_small_threshold() -> None:
    """It was 9.5 ± 0.5 packets for 3, behind a receiver that reads its packets every 25 ms."""
    sender = Sender(
        initial=70, growth=one_a_round_trip, avoidance=one_a_round_trip, buffer_packets=20, packets=6000
    )
    trace = sender.run()
    bunch_ns = 10_000_000
    rows = trace.transport.with_columns(time_ns=(pl.col("time_ns") // bunch_ns + 1) * bunch_ns)
    (one,) = packet_threshold.estimate(replace(trace, transport=rows))
    assert isinstance(one, Missing) and "covers about 17 packets" in one.why


def test_where_packets_are_rare_a_time_threshold_comes_first() -> None:
    sender = Sender(initial=70, growth=one_a_round_trip, buffer_packets=20, packets=6000)
    trace = sender.run()
    slow = trace.packets.with_columns(pl.col("arrival_ns") * 40, pl.col("departure_ns") * 40)
    told = trace.transport.with_columns(pl.col("time_ns") * 40)
    (one,) = packet_threshold.estimate(replace(trace, packets=slow, transport=told))
    assert isinstance(one, Missing)


def test_a_train_that_comes_late_declares_by_time_that_the_last_packet_of_the_one_before_is_lost() -> None:
    """The time threshold has passed when its first packet comes: "1.0; SHOULD NOT be less than 3"."""
    sender = InTrains(
        initial=70,
        growth=one_a_round_trip,
        avoidance=one_a_round_trip,
        threshold=1,
        buffer_packets=20,
        packets=6000,
        train=16,
    )
    (one,) = packet_threshold.estimate(sender.run())
    assert isinstance(one, Missing)


def test_packets_alone_do_not_show_the_threshold() -> None:
    trace = Sender().run()
    (one,) = packet_threshold.estimate(replace(trace, transport=transport_of([])))
    assert isinstance(one, Missing) and one.source == "packets"


def test_a_sampled_log_tells_losses_too_late() -> None:
    trace = Sender(initial=70, growth=one_a_round_trip, buffer_packets=20, packets=3000).run()
    rare = trace.transport.filter((pl.col("event") == "loss") | (pl.int_range(pl.len()) % 50 == 0))
    (one,) = packet_threshold.estimate(replace(trace, transport=rare))
    assert isinstance(one, Missing) and "late" in one.why


def test_without_a_loss_there_is_no_threshold() -> None:
    trace = Sender(buffer_packets=5000).run()
    (one,) = packet_threshold.estimate(trace)
    assert isinstance(one, Missing) and "no loss" in one.why


def test_windows_are_told_in_payload() -> None:
    assert transport_of([(0, "ack", 10)])["cwnd_bytes"].to_list() == [10 * PAYLOAD]


def test_a_window_lowered_for_a_mark_declares_no_loss() -> None:
    rows = {"event": ["state"] * 3, "state": ["CWR", " cwr ", "Recovery"], "time_ns": [1, 2, 3]}
    assert packet_threshold._declared_ns(pl.DataFrame(rows)).tolist() == [3]
