"""How flows begin: initial window, what ends slow start."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.metrics.parameters import initial_window, slow_start_exit
from cambrian.metrics.parameters.beginning import beginning
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.parameters.flow_trace import FlowTrace
from tests.unit.metrics.parameters import sender_model
from tests.unit.metrics.parameters.sender_model import PAYLOAD, RTT, START, Sender, transport_of


def found(estimates: object) -> dict[str, Estimate | Missing]:
    return {one.source: one for one in estimates}  # type: ignore[attr-defined]


@pytest.mark.parametrize("packets", [2, 10, 32])
@pytest.mark.parametrize("pacing", [None, 1.25])
def test_the_initial_window_is_found_paced_or_not(packets: int, pacing: float | None) -> None:
    by_source = found(initial_window.estimate(Sender(initial=packets, pacing=pacing).run()))
    window, flight = by_source["window"], by_source["packets"]
    assert isinstance(window, Estimate) and isinstance(flight, Estimate)
    assert abs(window.value - packets) <= window.resolution <= 0.2
    assert abs(flight.value - packets) <= flight.resolution + 1e-9 <= 1 + 2e-9


def test_ten_is_not_within_an_initial_window_of_32() -> None:
    flight = found(initial_window.estimate(Sender(initial=32).run()))["packets"]
    assert isinstance(flight, Estimate)
    assert flight.value - flight.resolution > 30


def with_handshake(trace: FlowTrace, packets: int) -> FlowTrace:
    """So many packets of a handshake in the round trip before the data."""
    rows = trace.packets.head(1).with_columns(arrival_ns=trace.packets["arrival_ns"].head(1) - RTT)
    return replace(trace, packets=pl.concat([*[rows] * packets, trace.packets]))


@given(st.integers(1, 40), st.integers(0, 40))
def test_no_initial_window_is_less_than_a_packet(initial: int, handshake: int) -> None:
    trace = with_handshake(Sender(initial=initial, packets=400).run(), handshake)
    flight = found(initial_window.estimate(trace))["packets"]
    if isinstance(flight, Estimate):
        assert flight.value - flight.resolution >= 1 - 1e-9
        assert flight.value - flight.resolution <= initial <= flight.value + flight.resolution
    if 0 < handshake < initial:
        assert isinstance(flight, Estimate)


@given(st.integers(1, 40), st.integers(0, 40), st.floats(0, 1))
def test_a_handshake_can_only_have_raised_the_log_s_first_window(
    initial: int, handshake: int, counted: float
) -> None:
    """The log's first row comes after the handshake: its acknowledgements count in part, or all."""
    sent = Sender(initial=initial, packets=400).run()
    first = pl.Series([initial * PAYLOAD + int(counted * handshake * PAYLOAD)])
    later = sent.transport.with_columns(
        event=pl.lit("sample"), cwnd_bytes=pl.concat([first, sent.transport["cwnd_bytes"].tail(-1)])
    )
    by_log = found(initial_window.estimate(replace(with_handshake(sent, handshake), transport=later)))[
        "window"
    ]
    assert isinstance(by_log, Estimate)
    low, high = by_log.value - by_log.resolution, by_log.value + by_log.resolution
    assert 0.9 - 1e-9 <= low <= initial <= high <= initial + counted * handshake + 0.1 + 1e-9


def test_a_link_that_takes_a_round_trip_for_a_packet_hides_the_rounds() -> None:
    flight = found(initial_window.estimate(Sender().run(rate_mbps=0.2)))["packets"]
    assert isinstance(flight, Missing) and "each packet" in flight.why


def test_pacing_over_more_than_a_round_trip_hides_the_initial_window() -> None:
    by_source = found(initial_window.estimate(Sender(initial=40, pacing=0.5, packets=400).run()))
    assert isinstance(by_source["packets"], Missing)
    assert isinstance(by_source["window"], Estimate)


def test_a_transfer_that_fits_the_initial_window_tells_nothing() -> None:
    trace = Sender(initial=32, packets=20).run()
    assert beginning(trace) is None
    assert all(isinstance(one, Missing) for one in initial_window.estimate(trace))


def test_a_flight_of_a_longer_handshake_is_not_the_initial_window() -> None:
    """TLS over TCP: three packets of certificates a round trip before the first ten of data."""
    trace = Sender().run(protocol="tcp")
    certificates = trace.packets.head(3)
    late = trace.packets.with_columns(arrival_ns=trace.packets["arrival_ns"] + RTT)
    late = late.with_columns(departure_ns=late["departure_ns"] + RTT)
    begun = beginning(replace(trace, packets=certificates.vstack(late)))
    assert begun is not None
    assert len(begun.sizes_bytes) == 10
    assert begun.start_ns == START + 3 * RTT


def test_a_handshake_that_lost_packets_has_rounds_of_its_own() -> None:
    trace = Sender().run()
    first = trace.packets.head(1)
    lost = first.with_columns(
        arrival_ns=pl.lit(START + RTT, pl.Int64), outcome=pl.lit("dropped", first.schema["outcome"])
    )
    assert beginning(trace) is not None
    assert beginning(replace(trace, packets=pl.concat([lost, trace.packets]))) is None


def test_a_window_told_too_late_is_no_initial_window() -> None:
    trace = Sender().run()
    late = trace.transport.filter(trace.transport["time_ns"] > START + 4 * RTT)
    assert isinstance(found(initial_window.estimate(replace(trace, transport=late)))["window"], Missing)


def until(exit_packets: float, after: float):  # type: ignore[no-untyped-def]
    """Slow start to a window, then this share of what is acknowledged."""
    return lambda window, acked: acked if window < exit_packets else after * acked


@pytest.mark.parametrize(
    ("growth", "kind"),
    [
        (until(1e9, 0), "loss"),
        (until(110, 0.01), "hystart"),
        (until(110, 0.25), "hystart++"),
        (until(20, 0.01), "other"),
    ],
)
@pytest.mark.parametrize("ack_every", [1, 2])
def test_what_ends_slow_start_shows_in_window_and_flight(growth, kind: str, ack_every: int) -> None:  # type: ignore[no-untyped-def]
    sender = Sender(growth=growth, ack_every=ack_every, buffer_packets=200, packets=3000)
    by_source = found(slow_start_exit.estimate(sender.run()))
    for source in ("window", "packets"):
        one = by_source[source]
        assert isinstance(one, Estimate), one
        assert (one.label, one.resolution) == (kind, 0)


class _LogsEachPacket(Sender):
    """Its log has a row for each acknowledged packet, all at the time of the acknowledgement."""

    def _ack(self, now: int, count: int) -> None:
        before = self.window
        super()._ack(now, count)
        grown = self.transport.pop()[2] - before
        self.transport += [(now, "ack", before + grown * (n + 1) / count) for n in range(count)]


@pytest.mark.parametrize(("growth", "kind"), [(until(1e9, 0), "loss"), (until(110, 0.01), "hystart")])
def test_rows_of_one_acknowledgement_are_no_pause_of_growth(growth, kind: str) -> None:  # type: ignore[no-untyped-def]
    """As sing-quic's log: one acknowledgement for eight packets was the end of slow start, "other"."""
    sender = _LogsEachPacket(growth=growth, initial=32, ack_every=8, buffer_packets=200, packets=3000)
    window = found(slow_start_exit.estimate(sender.run()))["window"]
    assert isinstance(window, Estimate) and window.label == kind


@pytest.mark.parametrize("kind", ["hystart", "hystart++"])
def test_on_a_fast_link_acknowledgements_are_no_one(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 1 Gbps those of single packets are 12 µs apart."""
    monkeypatch.setattr(sender_model, "SERVICE", sender_model.FRAME * 8)
    bdp = 4128
    growth = until(1.3 * bdp, {"hystart": 0.01, "hystart++": 0.25}[kind])
    sender = Sender(growth=growth, initial=32, buffer_packets=bdp, packets=12 * bdp)
    by_source = found(slow_start_exit.estimate(sender.run(rate_mbps=1000.0)))
    for source in ("window", "packets"):
        one = by_source[source]
        assert isinstance(one, Estimate) and one.label == kind


def test_a_slow_start_until_a_loss_is_one_where_most_frames_are_small() -> None:
    by_source = found(slow_start_exit.estimate(sender_model.in_small_frames(Sender().run())))
    for one in by_source.values():
        assert isinstance(one, Estimate), one
        assert one.label == "loss"
    assert {*by_source} == {"window", "packets"}


def test_growth_that_pauses_and_goes_on_has_not_ended() -> None:
    acked = 0

    def pauses(window: float, count: int) -> float:
        nonlocal acked
        acked += count
        return 0.0 if 60 < acked <= 80 else count

    sender = Sender(growth=pauses, buffer_packets=200, packets=3000)
    window = found(slow_start_exit.estimate(sender.run()))["window"]
    assert isinstance(window, Estimate) and window.label == "loss"


def test_with_pacing_the_flight_does_not_tell_what_ends_slow_start() -> None:
    trace = Sender(growth=until(110, 0.01), pacing=1.25, buffer_packets=200, packets=3000).run()
    by_source = found(slow_start_exit.estimate(trace))
    assert isinstance(by_source["packets"], Missing)
    window = by_source["window"]
    assert isinstance(window, Estimate) and window.label == "hystart"


def test_a_loss_right_after_hides_which_hystart_it_was() -> None:
    sender = Sender(growth=until(290, 0.25), buffer_packets=82, packets=1500)
    window = found(slow_start_exit.estimate(sender.run()))["window"]
    assert isinstance(window, Missing) and "too soon" in window.why


def test_bbr_has_no_slow_start() -> None:
    assert not list(slow_start_exit.estimate(Sender().run(family="bbr")))


def test_a_window_that_never_grows_has_no_slow_start() -> None:
    trace = Sender(growth=lambda window, acked: 0, packets=500).run()
    by_source = found(slow_start_exit.estimate(trace))
    assert isinstance(by_source["window"], Missing)
    assert isinstance(by_source["packets"], Missing)


def test_without_packets_everything_is_missing() -> None:
    trace = Sender().run()
    bare = replace(trace, packets=trace.packets.clear(), transport=transport_of([]))
    assert all(isinstance(one, Missing) for one in initial_window.estimate(bare))
    assert all(isinstance(one, Missing) for one in slow_start_exit.estimate(bare))


def test_payload_is_what_a_window_counts() -> None:
    begun = beginning(Sender().run())
    assert begun is not None
    assert (begun.packet_bytes, begun.handshake_bytes, begun.limited) == (PAYLOAD, 0, True)
