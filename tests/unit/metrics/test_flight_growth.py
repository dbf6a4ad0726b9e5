"""Growth of the flight between two signals, of modelled senders whose growth is known."""

from __future__ import annotations

import pytest

from cambrian.metrics.flight_growth import packets_per_trip
from cambrian.metrics.parameters.flight import flight
from tests.unit.metrics.parameters.sender_model import RTT, Growth, Sender, in_small_frames, steady

S = 1_000_000_000


def additive(alpha: float, most: float = float("inf")) -> Growth:
    """``alpha`` packets a round trip, up to a window of ``most``."""
    return lambda window, acked: min(alpha * acked / window, max(most - window, 0.0))


def growth(sender: Sender, from_s: int = 3, to_s: int | None = None) -> float | None:
    trace = sender.run()
    return packets_per_trip(flight(trace.packets, RTT), from_s * S, to_s * S if to_s else trace.end_ns)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("beta", [0.5, 0.7])
def test_a_sender_grows_by_its_alpha(alpha: float, beta: float) -> None:
    found = growth(Sender(packets=40_000, avoidance=additive(alpha), beta=beta))
    # a round trip of the growing queue is counted to a part
    assert found == pytest.approx(alpha, rel=0.15)


def test_growth_is_in_full_packets_where_most_are_small() -> None:
    trace = Sender(packets=40_000, avoidance=additive(1.0), beta=0.5).run()
    plain, small = (
        packets_per_trip(flight(one.packets, RTT), 3 * S, trace.end_ns)
        for one in (trace, in_small_frames(trace))
    )
    assert plain is not None
    assert small == pytest.approx(plain, rel=0.02)


def test_a_window_that_stays_does_not_grow() -> None:
    # the initial window fills the path and half of the queue, and nothing is lost
    assert growth(Sender(packets=30_000, initial=120, growth=steady)) == pytest.approx(0.0, abs=0.02)


def test_a_capped_window_grows_only_back_to_its_cap() -> None:
    """After its cut it grows back to the cap, and then stays."""
    capped = growth(Sender(packets=40_000, buffer_packets=40, avoidance=additive(1.0, most=80.0), beta=0.5))
    assert capped is not None
    assert capped < 0.3


def test_a_short_time_shows_nothing() -> None:
    # CUBIC's plateau would be no growth: 90 round trips in 9 s
    assert growth(Sender(packets=20_000, avoidance=additive(1.0)), to_s=12) is None
    assert growth(Sender(packets=22_000, avoidance=additive(1.0)), to_s=13) is not None


def test_a_flow_without_packets_shows_nothing() -> None:
    trace = Sender(packets=50).run()
    assert packets_per_trip(flight(trace.packets.head(0), RTT), 0, 10 * S) is None
    assert packets_per_trip(flight(trace.packets, RTT), 20 * S, 60 * S) is None


def test_an_empty_interval_is_refused() -> None:
    trace = Sender(packets=50).run()
    with pytest.raises(ValueError, match="empty"):
        packets_per_trip(flight(trace.packets, RTT), S, S)
