"""Logs of senders that keep to their window, and that do not."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from cambrian.metrics.parameters import beyond_window, initial_window, window
from cambrian.metrics.parameters.estimate import Estimate, Missing
from tests.unit.metrics.parameters.cubic_model import CubicSender
from tests.unit.metrics.parameters.sender_model import PAYLOAD, polled


@pytest.mark.parametrize(("beyond_packets", "share"), [(0, 0.0), (1, 0.0), (60, 1.0)])
def test_packets_beyond_the_window(beyond_packets: int, share: float) -> None:
    """Bytes in flight are the window and so much more; just after a cut they are still the old window."""
    trace = CubicSender(packets=60_000).run()
    in_flight = (pl.col("cwnd_bytes") + beyond_packets * PAYLOAD).rolling_max(30, min_samples=1)
    transport = trace.transport.with_columns(in_flight_bytes=in_flight.cast(pl.Int64))
    (found,) = beyond_window.estimate(replace(trace, transport=transport))
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(share, abs=0.05)
    assert found.count >= 50
    for other in ({"protocol": "tcp"}, {"steady": False}):
        (nothing,) = beyond_window.estimate(replace(trace, transport=transport, **other))
        assert isinstance(nothing, Missing)


def test_a_row_without_an_event_is_no_timeout() -> None:
    trace = CubicSender(packets=60_000).run()
    transport = trace.transport.with_columns(
        event=pl.when(pl.col("event") == "rto").then(pl.col("event")), in_flight_bytes="cwnd_bytes"
    )
    assert transport["event"].null_count()
    silent = replace(trace, transport=transport)
    assert isinstance(next(beyond_window.estimate(silent)), Estimate)
    assert window.of_stack(silent).timeout.sum() == (transport["event"] == "rto").sum()


def test_rows_at_losses_only_do_not_show_what_a_cut_left_in_flight() -> None:
    """Between two of them the window grows, and a cut to more than the row before had is no fall."""
    trace = CubicSender(packets=60_000).run()
    before = pl.col("cwnd_bytes").rolling_max(30, min_samples=1).cast(pl.Int64)
    transport = trace.transport.with_columns(in_flight_bytes=before)
    losses = transport.filter(pl.col("event").is_in(["start", "loss"]))
    (found,) = beyond_window.estimate(replace(trace, transport=losses))
    assert isinstance(found, Missing)
    (found,) = beyond_window.estimate(polled(replace(trace, transport=transport), 1000))
    assert isinstance(found, Missing)


def test_a_window_in_packets_has_another_unit() -> None:
    trace = CubicSender(packets=60_000).run()
    in_packets = trace.transport.with_columns(
        in_flight_bytes=pl.col("cwnd_bytes"), cwnd_bytes=pl.col("cwnd_bytes") // PAYLOAD
    )
    (found,) = beyond_window.estimate(replace(trace, transport=in_packets))
    assert isinstance(found, Missing) and "different units" in found.why
    starts = list(initial_window.estimate(replace(trace, transport=in_packets)))
    assert [type(one) for one in starts if one.source == "window"] == [Missing]


def test_a_log_without_bytes_in_flight_shows_nothing() -> None:
    trace = CubicSender(packets=5_000).run()
    (found,) = beyond_window.estimate(trace)
    assert isinstance(found, Missing)
    assert not list(beyond_window.estimate(replace(trace, family="bbr")))
