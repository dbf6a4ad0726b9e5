"""Answers to congestion that the standards allow, and the faults that look like them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from cambrian.judging import contestants, findings
from cambrian.metrics.parameters import estimate_all
from cambrian.metrics.parameters.estimate import Missing
from tests.unit.metrics.parameters.cubic_model import CubicSender
from tests.unit.metrics.parameters.response_models import CutsFlight, MarkedSender


@dataclass
class LowBeta(CubicSender):
    """Half of the window is left after a loss."""

    beta: float = 0.5


@pytest.mark.parametrize("mark_at", [45, 50, 55])
def test_what_is_left_after_a_mark_and_a_drop_of_one_round_trip_is_no_beta_of_losses(mark_at: int) -> None:
    """0.85 after each mark, 0.7 after each loss: the end of slow start has both at once."""
    found = estimate_all(MarkedSender(packets=9000, mark_at=mark_at, buffer_packets=60).run())
    (beta,) = (one for one in found if (one.parameter, one.source) == ("beta", "window"))
    assert isinstance(beta, Missing) and "RFC 8511" in beta.why
    judged = contestants.judge("n", "cubic", [found])
    assert {"beta", "emulated_connections"}.isdisjoint(one.key for one in judged.findings)


@pytest.mark.parametrize("buffer_packets", [20, 82])
def test_a_beta_of_the_bytes_in_flight_is_not_off_and_a_low_beta_is(buffer_packets: int) -> None:
    """The same path and receiver: an acknowledgement takes ten packets off before 0.7 is left of the rest."""
    for sender, expected in ((CutsFlight, "inconclusive"), (LowBeta, "off")):
        trials = [
            estimate_all(sender(packets=packets, buffer_packets=buffer_packets, ack_every=10).run())
            for packets in (40_000, 44_000)
        ]
        judged = contestants.judge("n", "cubic", trials)
        (beta,) = (one for one in judged.findings if one.key == "beta")
        assert beta.measured.events >= 4
        assert (beta.status, beta.why == findings.OF_FLIGHT) == (expected, sender is CutsFlight)
        looks = {one.key for one in judged.findings if one.looks == "off"}
        assert bool(looks & {"beta", "emulated_connections", "alpha"}) is (sender is LowBeta)
