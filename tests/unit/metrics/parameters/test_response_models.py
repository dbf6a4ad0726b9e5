"""Answers to congestion that the standards allow, and the faults that look like them."""

from __future__ import annotations

import pytest

from cambrian.judging import contestants
from cambrian.metrics.parameters import estimate_all
from cambrian.metrics.parameters.estimate import Missing
from tests.unit.metrics.parameters.response_models import MarkedSender


@pytest.mark.parametrize("mark_at", [45, 50, 55])
def test_what_is_left_after_a_mark_and_a_drop_of_one_round_trip_is_no_beta_of_losses(mark_at: int) -> None:
    """0.85 after each mark, 0.7 after each loss: the end of slow start has both at once."""
    found = estimate_all(MarkedSender(packets=9000, mark_at=mark_at, buffer_packets=60).run())
    (beta,) = (one for one in found if (one.parameter, one.source) == ("beta", "window"))
    assert isinstance(beta, Missing) and "RFC 8511" in beta.why
    judged = contestants.judge("n", "cubic", [found])
    assert {"beta", "emulated_connections"}.isdisjoint(one.key for one in judged.findings)
