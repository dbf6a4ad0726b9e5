"""Logs of senders that keep to their window, and that do not."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from cambrian.metrics.parameters import beyond_window, initial_window, window
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.parameters.flow_trace import FlowTrace
from tests.unit.metrics.parameters.cubic_model import CubicSender
from tests.unit.metrics.parameters.sender_model import PAYLOAD, polled


def by_log(trace: FlowTrace) -> Estimate | Missing:
    (found,) = (one for one in beyond_window.estimate(trace) if one.source == "window")
    return found


@pytest.mark.parametrize(("beyond_packets", "share"), [(0, 0.0), (1, 0.0), (60, 1.0)])
def test_packets_beyond_the_window(beyond_packets: int, share: float) -> None:
    """Bytes in flight are the window and so much more; just after a cut they are still the old window."""
    trace = CubicSender(packets=60_000).run()
    in_flight = (pl.col("cwnd_bytes") + beyond_packets * PAYLOAD).rolling_max(30, min_samples=1)
    transport = trace.transport.with_columns(in_flight_bytes=in_flight.cast(pl.Int64))
    found = by_log(replace(trace, transport=transport))
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(share, abs=0.05)
    assert found.count >= 50
    for other in ({"protocol": "tcp"}, {"steady": False}):
        nothing = by_log(replace(trace, transport=transport, **other))
        assert isinstance(nothing, Missing)


def test_a_row_without_an_event_is_no_timeout() -> None:
    trace = CubicSender(packets=60_000).run()
    transport = trace.transport.with_columns(
        event=pl.when(pl.col("event") == "rto").then(pl.col("event")), in_flight_bytes="cwnd_bytes"
    )
    assert transport["event"].null_count()
    silent = replace(trace, transport=transport)
    assert isinstance(by_log(silent), Estimate)
    assert window.of_stack(silent).timeout.sum() == (transport["event"] == "rto").sum()


def test_rows_at_losses_only_do_not_show_what_a_cut_left_in_flight() -> None:
    """Between two of them the window grows, and a cut to more than the row before had is no fall."""
    trace = CubicSender(packets=60_000).run()
    before = pl.col("cwnd_bytes").rolling_max(30, min_samples=1).cast(pl.Int64)
    transport = trace.transport.with_columns(in_flight_bytes=before)
    losses = transport.filter(pl.col("event").is_in(["start", "loss"]))
    found = by_log(replace(trace, transport=losses))
    assert isinstance(found, Missing)
    found = by_log(polled(replace(trace, transport=transport), 1000))
    assert isinstance(found, Missing)


def test_a_window_in_packets_has_another_unit() -> None:
    trace = CubicSender(packets=60_000).run()
    in_packets = trace.transport.with_columns(
        in_flight_bytes=pl.col("cwnd_bytes"), cwnd_bytes=pl.col("cwnd_bytes") // PAYLOAD
    )
    found = by_log(replace(trace, transport=in_packets))
    assert isinstance(found, Missing) and "different units" in found.why
    starts = list(initial_window.estimate(replace(trace, transport=in_packets)))
    assert [type(one) for one in starts if one.source == "window"] == [Missing]


def test_a_log_without_bytes_in_flight_shows_nothing() -> None:
    trace = CubicSender(packets=5_000).run()
    found = by_log(trace)
    assert isinstance(found, Missing)
    assert not list(beyond_window.estimate(replace(trace, family="bbr")))


def by_packets(trace: FlowTrace) -> Estimate | Missing:
    (found,) = (one for one in beyond_window.estimate(trace) if one.source == "packets")
    return found


def logged(trace: FlowTrace, times: float = 1.0, late_ms: int = 0) -> FlowTrace:
    """The same with a log of another window, or with its rows later by so much."""
    changed = trace.transport.with_columns(
        (pl.col("cwnd_bytes") * times).cast(pl.Int64), pl.col("time_ns") + late_ms * 1_000_000
    )
    return replace(trace, transport=changed)


@pytest.mark.parametrize(
    ("times", "share"), [(1, 0.0), (1200 / PAYLOAD, 0.0), (2, 0.0), (0.5, 1.0), (0.3, 1.0)]
)
def test_packets_show_a_flight_beyond_the_logged_window(times: float, share: float) -> None:
    """Without bytes in flight in the log, a CUBIC that keeps two of its own windows in flight was right."""
    found = by_packets(logged(CubicSender(packets=60_000).run(), times))
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(share, abs=0.05)
    assert found.count >= 100


@pytest.mark.parametrize("late_ms", [-100, 100, 500, 2000])
def test_a_late_log_has_no_flight_beyond_its_window(late_ms: int) -> None:
    found = by_packets(logged(CubicSender(packets=60_000, beta=0.5).run(), late_ms=late_ms))
    assert isinstance(found, Estimate) and found.value < 0.05


def test_a_log_that_is_rare_or_has_another_unit_shows_no_flight_beyond_its_window() -> None:
    trace = CubicSender(packets=60_000, beta=0.5).run()
    losses = replace(trace, transport=trace.transport.filter(pl.col("event").is_in(["start", "loss"])))
    assert isinstance(by_packets(losses), Missing)
    assert isinstance(by_packets(polled(trace, 1000)), Missing)
    in_packets = by_packets(logged(trace, 1 / PAYLOAD))
    assert isinstance(in_packets, Missing) and "another unit" in in_packets.why
    assert isinstance(by_packets(replace(trace, random_loss=True)), Missing)
