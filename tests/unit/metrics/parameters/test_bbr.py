"""BBR's parameters, against a model whose truth is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from cambrian.metrics.parameters import bbr
from cambrian.metrics.parameters.bbr_bdp import bdp_packets, carried_packets
from cambrian.metrics.parameters.bbr_low_stages import LowStage, plausible
from cambrian.metrics.parameters.bbr_phases import Phases, phases
from cambrian.metrics.parameters.bbr_probe_bw import estimates_from_rates, kind_of
from cambrian.metrics.parameters.bbr_probe_rtt import estimates_from_stages, may_be_least
from cambrian.metrics.parameters.bbr_rates import counted
from cambrian.metrics.parameters.bbr_settled import in_silence, says_probe_bw
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.metrics.parameters.estimate import Estimate, Measured, Missing, Source, pooled
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.trace import schema
from tests.unit.metrics.parameters.bbr_model import FRAME, PAYLOAD, Bbr, run

SOURCES: tuple[Source, ...] = ("window", "packets")


def by_key(trace: FlowTrace) -> dict[tuple[str, Source], Estimate | Missing]:
    found = list(bbr.estimate(trace))
    keyed = {(one.parameter, one.source): one for one in found}
    assert len(keyed) == len(found), "at most one a parameter and source"
    return keyed


def bdp_of(trace: FlowTrace) -> float:
    return bdp_packets(carried_packets(trace, FRAME))


def measured(one: Estimate | Missing) -> Measured:
    assert isinstance(one, Estimate), one
    return pooled([one])


def holds(one: Estimate | Missing, truth: float, not_this: float | None = None) -> None:
    what = measured(one)
    assert what.low <= truth <= what.high, what
    assert not_this is None or not what.low <= not_this <= what.high, what


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("up", "down", "margin"), [(1.25, 0.75, 0.99), (1.4, 0.9, 0.95), (1.25, 0.5, 1.0)])
def test_gains_and_cruising_rate(up: float, down: float, margin: float, source: Source) -> None:
    found = by_key(run(Bbr(up=up, down=down, margin=margin)))
    holds(found["probe_up_gain", source], up, up + 0.03)
    holds(found["probe_down_gain", source], down, down + 0.03)
    holds(found["cruise_factor", source], margin, margin - 0.01)


def test_a_path_of_few_packets_resolves_its_gains_less() -> None:
    """By its packets, a BBR that drains with 0.75 had 0.789 ± 0.011 on a path of 5 packets."""
    trace = run(Bbr())
    rates = counted(trace, 20, FRAME)
    assert rates is not None
    found, carried = phases(rates, trace), carried_packets(trace, FRAME)
    for mbps, half in ((20.0, 0.01), (2.0, 0.03)):
        path = replace(trace, rate_mbps=mbps)
        told = {one.parameter: one for one in estimates_from_rates(rates, found, path, FRAME, carried)}
        for key in ("probe_up_gain", "probe_down_gain"):
            one = told[key]
            assert isinstance(one, Estimate) and one.resolution == pytest.approx(half, abs=0.001)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("rounds", "kind"), [(8.0, "BBRv1-like"), (50.0, "BBRv2- or v3-like")])
def test_a_cycle_and_what_it_says_of_the_generation(rounds: float, kind: str, source: Source) -> None:
    found = by_key(run(Bbr(cycle_rounds=rounds)))
    holds(found["cycle_rounds", source], rounds, 0.9 * rounds)
    generation = measured(found["bbr_generation", source])
    assert generation.label == kind
    assert PARAMETERS["bbr_generation"].kinds[round(generation.value)] == kind


def test_the_names_of_phases_show_a_later_generation() -> None:
    few = run(Bbr(cycle_rounds=50.0, seconds=6.0))
    assert isinstance(by_key(few)["bbr_generation", "window"], Missing)
    for word, kind in (("ProbeBW_CRUISE", "BBRv2- or v3-like"), ("ProbeBW", None)):
        words = pl.when(pl.int_range(pl.len()) > 5).then(pl.lit(word)).otherwise(pl.lit("Startup"))
        found = by_key(replace(few, transport=few.transport.with_columns(state=words)))
        one = found["bbr_generation", "window"]
        assert (one.label if isinstance(one, Estimate) else None) == kind
        assert isinstance(found["bbr_generation", "packets"], Missing)
        without = few.transport.with_columns(state=words, pacing_bps=None)
        rateless = by_key(replace(few, transport=without))["bbr_generation", "window"]
        assert (rateless.label if isinstance(rateless, Estimate) else None) == kind
    # on a path of few packets, or of a long round trip, the draft's own cycle has so few round trips
    often = run(Bbr(cycle_rounds=8.0))
    named = replace(often, transport=often.transport.with_columns(state=pl.lit("ProbeBW_CRUISE")))
    assert measured(by_key(named)["bbr_generation", "window"]).label == "BBRv2- or v3-like"


@pytest.mark.parametrize(
    ("path", "cycle_rounds", "queue_ms", "kind"),
    [
        ({}, 8.0, 0, 0),
        ({}, 50.0, 0, 1),
        # the draft's two seconds are eight of these round trips, and its round trip for each packet, too
        ({"rtt_ms": 400.0}, 8.0, 0, None),
        ({"rtt_ms": 5.0}, 8.0, 0, None),
        # eight of the round trips that the first generation knows: of long packets, or with a standing queue
        ({"rtt_ms": 5.0, "rate_mbps": 1.0}, 27.0, 0, None),
        ({"alone": False}, 40.0, 200, None),
    ],
)
def test_a_cycle_of_both_generations_is_of_none(
    path: dict[str, Any], cycle_rounds: float, queue_ms: int, kind: int | None
) -> None:
    trace = replace(run(Bbr()), **path)
    queued = trace.packets.with_columns(pl.col("departure_ns") + queue_ms * 1_000_000)
    path_with_queue = replace(trace, packets=queued)
    starts_ns = (np.arange(1, 20) * cycle_rounds * trace.rtt_ns).astype(np.int64)
    ones = np.ones(len(starts_ns))
    found = Phases(starts_ns, ones, ones, ones)
    assert kind_of(found, path_with_queue, FRAME, bdp_of(path_with_queue)) == kind


@pytest.mark.parametrize(
    ("rounds", "kind"),
    [
        ([50, 50, 10, 50, 50, 50], 1),
        # most probes of the first generation were not seen, on paths of 5 to 10 packets
        ([100, 14, 100, 15, 100, 14, 100], None),
        ([205, 206, 370, 205], None),
    ],
)
def test_probes_that_are_not_seen_make_no_later_generation(rounds: list[int], kind: int | None) -> None:
    trace = run(Bbr())
    starts_ns = np.cumsum([100, *rounds]) * trace.rtt_ns
    ones = np.ones(len(starts_ns))
    assert kind_of(Phases(starts_ns, ones, ones, ones), trace, FRAME, bdp_of(trace)) == kind


def test_times_that_are_longer_than_any_cycle_are_none() -> None:
    """On a path of 4 packets, Linux's BBR had a cycle of 207.9 ± 17.2 round trips."""
    for rounds, shown in ((50.0, True), (150.0, False)):
        found = by_key(run(Bbr(cycle_rounds=rounds, seconds=60.0, interval_s=100.0)))
        assert isinstance(found["cycle_rounds", "window"], Estimate) == shown


def test_acknowledgements_in_bunches_make_each_phase_longer() -> None:
    """A receiver reads its packets every 10 ms: a phase of 50 ms lasts 60, and 9.3 was too long."""
    trace = run(Bbr(cycle_rounds=9.6))
    at = (pl.col("time_ns") // 10_000_000 + 1) * 10_000_000
    bunched = trace.transport.with_columns(time_ns=at)
    found = measured(by_key(replace(trace, transport=bunched))["cycle_rounds", "packets"])
    assert found.low <= 8 <= found.high
    holds(by_key(trace)["cycle_rounds", "packets"], 9.6, 8)
    rare = bunched.filter(pl.col("time_ns") % 50_000_000 == 0)
    holds(by_key(replace(trace, transport=rare))["cycle_rounds", "packets"], 9.6, 8)


def test_a_slow_receivers_rate_is_no_cruising_rate() -> None:
    found = by_key(replace(run(Bbr()), slow_receiver=True))
    assert all(isinstance(found["cruise_factor", source], Missing) for source in SOURCES)
    holds(found["probe_up_gain", "window"], 1.25)


def test_a_probe_from_draining_is_no_greater_gain() -> None:
    """Draining lasts until the next probe, whose rate is 1.25 over 0.75 of the one before it."""
    endless = Bbr(down_rounds=7.0)
    found = by_key(run(endless))
    # after each ProbeRTT one probe starts from cruising
    holds(found["probe_up_gain", "window"], 1.25, 1.28)
    holds(found["probe_down_gain", "window"], 0.75, 0.78)
    too_short = by_key(run(replace(endless, seconds=15.0)))
    for key in ("probe_up_gain", "cruise_factor"):
        one = too_short[key, "window"]
        assert isinstance(one, Missing)
        assert "may start in a drain phase" in one.why


def test_behind_a_standing_queue_packets_do_not_show_the_pacer() -> None:
    found = by_key(run(Bbr(margin=1.19)))
    holds(found["cruise_factor", "window"], 1.19, 0.99)
    holds(found["probe_up_gain", "window"], 1.25)
    for key in ("cruise_factor", "probe_up_gain", "cycle_rounds"):
        assert isinstance(found[key, "packets"], Missing)


def test_a_flow_that_does_not_probe_has_no_gains() -> None:
    found = by_key(run(Bbr(up=1.0, down=1.0)))
    for source in SOURCES:
        holds(found["cruise_factor", source], 0.99)
        assert isinstance(found["probe_up_gain", source], Missing)


@pytest.mark.parametrize("cycle_rounds", [2.2, 2.5, 3.0])
def test_short_cycles_do_not_make_the_probing_rate_the_cruising_rate(cycle_rounds: float) -> None:
    found = by_key(run(Bbr(cycle_rounds=cycle_rounds)))
    for source in SOURCES:
        cruise = found["cruise_factor", source]
        if not isinstance(cruise, Missing):
            holds(cruise, 0.99)


def with_phases(trace: FlowTrace) -> FlowTrace:
    """The same flow of a stack that names ProbeBW's phases, by its gains."""
    gain = pl.col("pacing_bps") / (20e6 * PAYLOAD / FRAME * 0.99)
    phase = (
        pl.when(gain > 1.01)
        .then(pl.lit("ProbeBW_UP"))
        .when(gain < 0.99)
        .then(pl.lit("ProbeBW_DOWN"))
        .otherwise(pl.lit("ProbeBW_CRUISE"))
    )
    named = pl.when(pl.col("state") == "probe_bw").then(phase).otherwise("state")
    return replace(trace, transport=trace.transport.with_columns(state=named))


@pytest.mark.parametrize("source", SOURCES)
def test_a_later_bbr_that_drains_until_it_refills_has_no_gains(source: Source) -> None:
    """A right one behind rare acknowledgements: cruising at 0.891, gains of 1.111 and 0.8, Startup's 3.09."""
    found = by_key(run(Bbr(startup_gain=2.77, down=0.9, cycle_rounds=50.0, down_rounds=48.0)))
    for key in ("cruise_factor", "probe_up_gain", "probe_down_gain"):
        one = found[key, source]
        assert isinstance(one, Missing) and "may start in a drain phase" in one.why


@pytest.mark.parametrize(("down_rounds", "shown"), [(48.0, False), (20.0, True)])
@pytest.mark.parametrize("up", [1.25, 1.4])
def test_where_the_log_names_phases_cruising_is_not_draining(
    down_rounds: float, shown: bool, up: float
) -> None:
    truth = Bbr(startup_gain=2.77, up=up, down=0.9, cycle_rounds=50.0, down_rounds=down_rounds)
    found = by_key(with_phases(run(truth)))
    holds(found["probe_up_gain", "window"], up, 1.111)
    holds(found["probe_down_gain", "window"], 0.9, 0.8)
    holds(found["startup_gain", "window"], 2.77, 3.08)
    # what is left is its refill, a round trip each
    cruise = found["cruise_factor", "window"]
    assert isinstance(cruise, Missing) or measured(cruise).value == pytest.approx(0.99, abs=0.004)
    assert not shown or isinstance(cruise, Estimate)


@pytest.mark.parametrize("seconds", [32.0, 35.0])
def test_gains_of_two_kinds_are_no_gain(seconds: float) -> None:
    """The median of an even number of them is near none of them: this was a ValueError."""
    found = by_key(run(Bbr(seconds=seconds, cycle_rounds=50.0, down=0.7, other_down=0.9)))
    holds(found["probe_up_gain", "window"], 1.25)
    one = found["probe_down_gain", "window"]
    assert isinstance(one, Missing) or measured(one).value in (
        pytest.approx(0.7, 0.01),
        pytest.approx(0.9, 0.01),
    )


def test_probing_without_draining() -> None:
    found = by_key(run(Bbr(down=1.0)))
    holds(found["probe_up_gain", "window"], 1.25)
    assert isinstance(found["probe_down_gain", "window"], Missing)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    ("interval_s", "duration_ms", "packets", "others"),
    [
        (10.0, 200.0, 4, (5.0, 100.0, 62)),
        (5.0, 200.0, 41, (10.0, 100.0, 4)),
        (10.0, 100.0, 62, (5.0, 200.0, 4)),
    ],
)
def test_probe_rtt(
    interval_s: float, duration_ms: float, packets: int, others: tuple[float, float, int], source: Source
) -> None:
    truth = Bbr(interval_s=interval_s, duration_ms=duration_ms, probe_rtt_packets=packets)
    found = by_key(run(truth))
    holds(found["probe_rtt_interval_s", source], interval_s, others[0])
    holds(found["probe_rtt_duration_ms", source], duration_ms, others[1])
    holds(found["probe_rtt_packets", source], packets, others[2])
    gain = found["probe_rtt_gain", source]
    if packets == 4:
        assert isinstance(gain, Missing)
    else:
        holds(gain, packets / 82.56, 0.9)


@pytest.mark.parametrize("duration_ms", [20.0, 2500.0])
def test_a_log_that_names_probe_rtt_shows_one_of_any_length(duration_ms: float) -> None:
    """A fall of the window that is so short, or so long, may be something else if nothing names it."""
    trace = run(Bbr(duration_ms=duration_ms, interval_s=5.0, probe_rtt_packets=41))
    holds(by_key(trace)["probe_rtt_duration_ms", "window"], duration_ms, 200.0)
    unnamed = replace(trace, transport=trace.transport.with_columns(state=pl.lit("open")))
    assert isinstance(by_key(unnamed)["probe_rtt_duration_ms", "window"], Missing)


def test_a_bbr_that_stays_in_probe_rtt_has_its_own_window_gain_and_a_long_probe_rtt() -> None:
    """Its round trips in ProbeRTT carry half a BDP, by which a gain of 2 was 3.8."""
    found = by_key(run(Bbr(seconds=40.0, duration_ms=60_000.0, probe_rtt_packets=41)))
    holds(found["cwnd_gain", "window"], 2.0, 2.5)
    assert measured(found["probe_rtt_duration_ms", "window"]).low > 20_000


def test_probe_rtt_by_the_window_alone_without_states() -> None:
    trace = run(Bbr())
    kernel = replace(trace, transport=trace.transport.with_columns(state=pl.lit("open"), pacing_bps=None))
    found = by_key(kernel)
    holds(found["probe_rtt_interval_s", "window"], 10, 5)
    holds(found["probe_rtt_packets", "window"], 4, 5)


def unnamed(trace: FlowTrace, *, state: str | None = "open") -> FlowTrace:
    """The same flow of a stack that names none of BBR's states."""
    rows = trace.transport.with_columns(state=pl.lit(state, pl.String))
    return replace(trace, transport=rows.with_columns(pacing_bps=pl.lit(None, pl.Int64)))


def with_window(trace: FlowTrace, window: pl.Expr, **columns: pl.Expr) -> FlowTrace:
    rows = trace.transport.with_columns(cwnd_bytes=window.cast(pl.Int64), **columns)
    return replace(trace, transport=rows)


def test_a_window_that_falls_in_steps_is_no_probe_rtt() -> None:
    """On a path of 7 packets, tquic's BBRv3 had a ProbeRTT of 1,571 ± 177 ms."""
    trace = unnamed(run(Bbr()))
    low = pl.col("cwnd_bytes") == 4 * PAYLOAD
    until_ns = pl.when(low).then("time_ns").backward_fill() - pl.col("time_ns")
    in_steps = pl.when(until_ns < 3 * 50_000_000).then(8 * PAYLOAD).otherwise("cwnd_bytes")
    found = by_key(with_window(trace, pl.when(low).then("cwnd_bytes").otherwise(in_steps)))
    assert isinstance(by_key(trace)["probe_rtt_packets", "window"], Estimate)
    assert isinstance(found["probe_rtt_packets", "window"], Missing)


@pytest.mark.parametrize(
    ("during", "event", "packets"), [("recovery", "ack", 4), ("open", "loss", 4), ("open", "ack", 30)]
)
def test_a_window_that_is_low_in_recovery_is_no_probe_rtt(during: str, event: str, packets: int) -> None:
    """By 231 recoveries of Linux's BBR, its window in ProbeRTT was 18 packets."""
    trace = unnamed(run(Bbr()))
    into_ns = pl.col("time_ns") % 1_000_000_000
    recovers = (pl.col("time_ns") > 3_000_000_000) & (into_ns < 100_000_000)
    recovers &= pl.col("cwnd_bytes") > 4 * PAYLOAD
    first = recovers & ~recovers.shift().fill_null(False)
    found = by_key(
        with_window(
            trace,
            pl.when(recovers).then(30 * PAYLOAD).otherwise("cwnd_bytes"),
            state=pl.when(recovers).then(pl.lit(during)).otherwise("state"),
            event=pl.when(first).then(pl.lit(event)).otherwise("event"),
        )
    )
    assert measured(found["probe_rtt_packets", "window"]).value == packets


def test_a_reduction_by_ecn_hides_no_probe_rtt() -> None:
    """Linux's BBR has the state "cwr" then, and the same window."""
    holds(by_key(unnamed(run(Bbr()), state="cwr"))["probe_rtt_packets", "window"], 4)


def test_a_log_with_a_row_for_each_change_shows_probe_rtt() -> None:
    trace = unnamed(run(Bbr()))
    changes = trace.transport.filter(pl.col("cwnd_bytes") != pl.col("cwnd_bytes").shift().fill_null(0))
    holds(by_key(replace(trace, transport=changes))["probe_rtt_packets", "window"], 4)


@pytest.mark.parametrize(("window", "bdp", "shown"), [(10, 12.0, False), (10, 33.0, True), (16, 12.0, True)])
def test_the_least_window_of_a_sender_is_no_gain(window: int, bdp: float, *, shown: bool) -> None:
    """Ten packets of quiche's BBRv2 were 0.67 to 2.5 BDP on paths of few packets, for a gain of 0.5."""
    stages = [LowStage(5_000_000_000, 5_050_000_000, 5_250_000_000, window, 50_000_000)]
    assert may_be_least(stages, bdp) != shown
    estimates = estimates_from_stages(stages, run(Bbr()), bdp, "window", least=not shown)
    found = {one.parameter: one for one in estimates}
    assert isinstance(found["probe_rtt_gain"], Estimate) == shown


def test_a_least_window_in_the_log_is_no_gain_of_the_packets() -> None:
    """The packets of such a ProbeRTT showed 1.13 BDP."""
    trace = run(Bbr(probe_rtt_packets=41, interval_s=5.0))
    holds(by_key(trace)["probe_rtt_gain", "packets"], 41 / 82.56, 0.9)
    low = pl.col("cwnd_bytes") == 41 * PAYLOAD
    ten = with_window(trace, pl.when(low).then(10 * PAYLOAD).otherwise("cwnd_bytes"))
    small = list(bbr._of_flights(ten, FRAME, np.full(600, 12.0), left_startup=True))
    gains = [one for one in small if one.parameter == "probe_rtt_gain"]
    assert len(gains) == 2 and all(isinstance(one, Missing) for one in gains)


@pytest.mark.parametrize("changed", [{"rtt_ms": 300.0}, {"steady": False}])
def test_on_a_long_path_the_round_trip_ends_probe_rtt(changed: dict[str, Any]) -> None:
    found = by_key(replace(run(Bbr()), **changed))
    assert isinstance(found["probe_rtt_duration_ms", "window"], Missing)


@pytest.mark.parametrize(("bdp", "shown"), [(8.0, False), (82.0, True)])
def test_by_the_packets_of_a_path_of_few_packets_probe_rtt_has_no_length(bdp: float, shown: bool) -> None:
    """At 1 Mbps and 100 ms it was 296 ± 54 ms, of 200 ms and a round trip."""
    trace = run(Bbr())
    stages = [LowStage(5_000_000_000, 5_050_000_000, 5_250_000_000, 4.0, 50_000_000)]
    for source in SOURCES:
        found = {one.parameter: one for one in estimates_from_stages(stages, trace, bdp, source, least=False)}
        duration = found["probe_rtt_duration_ms"]
        assert isinstance(duration, Estimate) == (shown or source == "window")


def test_a_path_of_hardly_any_packets_shows_no_rates() -> None:
    """At 1 Mbps and 5 ms a probe lasts longer than the level of the rate, and was cruising at 1.237."""
    one = by_key(replace(run(Bbr()), rtt_ms=1.5))["cruise_factor", "window"]
    assert isinstance(one, Missing) and "hardly any packets" in one.why


@pytest.mark.parametrize("shared", [{"alone": False}, {"random_loss": True}])
def test_losses_move_the_rates_that_a_later_bbrs_probes_are_compared_with(shared: dict[str, Any]) -> None:
    later = replace(run(Bbr(cycle_rounds=50.0, down=0.9)), **shared)
    for trace in (later, with_phases(later)):
        found = by_key(trace)
        for key in ("probe_up_gain", "probe_down_gain"):
            one = found[key, "window"]
            assert isinstance(one, Missing) and "later generation" in one.why
    holds(by_key(replace(run(Bbr()), **shared))["probe_up_gain", "window"], 1.25)


def test_one_probe_rtt_tells_no_interval() -> None:
    found = by_key(run(Bbr(seconds=15)))
    assert isinstance(found["probe_rtt_interval_s", "window"], Missing)
    holds(found["probe_rtt_packets", "window"], 4)


@pytest.mark.parametrize(("gain", "other"), [(2.0, 2.5), (2.5, 2.0), (3.0, 2.5)])
def test_window_gain(gain: float, other: float) -> None:
    found = by_key(run(Bbr(cwnd_gain=gain)))
    holds(found["cwnd_gain", "window"], gain, other)
    assert isinstance(found["cwnd_gain", "packets"], Missing)


def test_a_window_may_also_hold_what_a_bunch_of_acknowledgements_brings() -> None:
    """It was 2.57 BDP for 2, of a BBRv1 whose receiver reads its packets every 25 ms (tcp_bbr.c adds it)."""
    trace = run(Bbr(cwnd_gain=2.5))
    holds(by_key(trace)["cwnd_gain", "window"], 2.5, 2.0)
    bunch_ns = 25_000_000
    rows = trace.transport.with_columns(time_ns=(pl.col("time_ns") // bunch_ns + 1) * bunch_ns)
    holds(by_key(replace(trace, transport=rows))["cwnd_gain", "window"], 2.0)
    # a log that is polled so often shows no bunches
    polled = replace(trace, transport=rows.unique("time_ns").sort("time_ns"))
    holds(by_key(polled)["cwnd_gain", "window"], 2.5, 2.0)


def test_a_window_that_is_no_larger_than_what_is_added_has_no_gain() -> None:
    """On a path of 8 packets it was below 0."""
    rows = run(Bbr()).transport.with_columns(cwnd_bytes=pl.lit(5 * PAYLOAD, pl.Int64))
    one = by_key(replace(run(Bbr()), transport=rows))["cwnd_gain", "window"]
    assert isinstance(one, Missing) and "as many as the window has" in one.why


def test_a_window_in_packets_is_no_window_of_bytes() -> None:
    """It was -0.06 BDP in ProbeBW, and 0 packets in ProbeRTT for 239 ms."""
    trace = run(Bbr())
    units = [pl.col("cwnd_bytes") // PAYLOAD, pl.col("in_flight_bytes") // PAYLOAD]
    found = by_key(replace(trace, transport=trace.transport.with_columns(units)))
    for key in ("cwnd_gain", "probe_rtt_packets", "probe_rtt_duration_ms"):
        one = found[key, "window"]
        assert isinstance(one, Missing) and "another unit" in one.why
    holds(found["probe_rtt_packets", "packets"], 4)


def test_a_path_of_fewer_packets_than_the_least_window_shows_no_window_gain() -> None:
    """On a path of 2 packets, a right BBR had a gain of 5.50 ± 2.65."""
    for rtt_ms, shown in ((50.0, True), (2.0, False)):
        one = by_key(replace(run(Bbr()), rtt_ms=rtt_ms))["cwnd_gain", "window"]
        assert isinstance(one, Estimate) or not shown
        assert shown or (isinstance(one, Missing) and "least window" in one.why)


def test_bursts_of_offload_on_a_fast_short_path_are_no_window_gain() -> None:
    """The same packets at 200 Mbps and 5 ms, with three bursts of 16 added: 2.5 BDP, as of another gain."""
    trace = run(Bbr(interval_s=100.0))
    times = pl.selectors.ends_with("_ns") // 10
    rows = trace.transport.with_columns(times, cwnd_bytes=pl.col("cwnd_bytes") + 3 * 16 * PAYLOAD)
    fast = replace(
        trace,
        packets=trace.packets.with_columns(times),
        transport=rows,
        rate_mbps=200.0,
        rtt_ms=5.0,
        forward_delay_ms=2.5,
        start_ns=trace.start_ns // 10,
        end_ns=trace.end_ns // 10,
    )
    holds(by_key(fast)["cwnd_gain", "window"], 2.0, 1.5)


def test_three_quanta_of_ten_packets_are_no_window_gain() -> None:
    """A quantum that is larger than the drafts': 2.39 ± 0.12 BDP, of a gain of 2."""
    trace = run(Bbr())
    first = pl.col("arrival_ns").gather(pl.int_range(pl.len()) // 10 * 10)
    rows = trace.transport.with_columns(
        cwnd_bytes=pl.when(pl.col("state") == "probe_bw")
        .then(pl.col("cwnd_bytes") + 3 * 10 * PAYLOAD)
        .otherwise("cwnd_bytes")
    )
    bunched = replace(trace, packets=trace.packets.with_columns(arrival_ns=first), transport=rows)
    holds(by_key(bunched)["cwnd_gain", "window"], 2.0, 2.8)
    holds(by_key(replace(trace, transport=rows))["cwnd_gain", "window"], 2.36, 2.0)


def test_an_application_that_leaves_a_part_of_the_link_unused_is_no_gain() -> None:
    """17 Mbps of 20: the window was 2.41 BDP, and cruising 1.18 in a probe that does not end."""
    trace = replace(run(Bbr()), rate_mbps=24)
    found = by_key(trace)
    window = found["cwnd_gain", "window"]
    assert isinstance(window, Missing) and "unused" in window.why
    holds(found["cruise_factor", "window"], 0.99 * 20 / 24, 0.99)
    for more in (1.1, 1.45):
        faster = trace.transport.with_columns(pacing_bps=(pl.col("pacing_bps") * more).cast(pl.Int64))
        cruise = by_key(replace(trace, transport=faster))["cruise_factor", "window"]
        assert isinstance(cruise, Missing) and "unused" in cruise.why


def test_what_the_path_loses_is_not_left_unused() -> None:
    """3 % random loss and more: a BBR that sends as much as the link carries left "a part unused"."""
    trace = run(Bbr())
    kept = replace(trace, packets=trace.packets.gather_every(20, 1), rate_mbps=20.0)
    lossy = replace(trace, packets=trace.packets.join(kept.packets, on="arrival_ns", how="anti"))
    found = by_key(replace(lossy, random_loss=True))
    for key in ("cwnd_gain", "cruise_factor"):
        one = found[key, "window"]
        assert isinstance(one, Missing) and "loses packets" in one.why and "unused" not in one.why


def test_the_window_of_bbr_v3_is_not_taken_for_its_gain() -> None:
    trace = run(Bbr(interval_s=5, probe_rtt_packets=41))
    for alone, why in ((True, "BBRv2"), (False, "share of the path changes")):
        found = by_key(replace(trace, alone=alone))["cwnd_gain", "window"]
        assert isinstance(found, Missing) and why in found.why


@pytest.mark.parametrize(("gain", "other"), [(2.885, 2.77), (2.77, 2.885)])
def test_startup_gain(gain: float, other: float) -> None:
    found = by_key(run(Bbr(seconds=15, startup_gain=gain)))
    holds(found["startup_gain", "window"], gain, other)
    only = found["startup_gain", "packets"]
    assert isinstance(only, Missing) and "the window" in only.why


@pytest.mark.parametrize("before_rtt", [1, 40])
def test_a_startup_at_its_first_rate_is_not_paced_by_a_gain(before_rtt: int) -> None:
    """On a path of 7 packets, a right BBR's guess of its initial window was a gain of 4.41 ± 0.02."""
    trace = run(Bbr(seconds=15, first_bandwidth=1.0))
    rate = pl.when(pl.int_range(pl.len()) < 3).then(pl.col("pacing_bps") * before_rtt).otherwise("pacing_bps")
    guessed = replace(trace, transport=trace.transport.with_columns(pacing_bps=rate))
    only = by_key(guessed)["startup_gain", "window"]
    assert isinstance(only, Missing) and "first guess" in only.why


def test_shared_and_changing_paths() -> None:
    trace = run(Bbr())
    shared = list(bbr.estimate(replace(trace, alone=False)))
    assert all(isinstance(one, Missing) for one in shared if one.source == "packets")
    keyed = {(one.parameter, one.source): one for one in shared}
    holds(keyed["probe_up_gain", "window"], 1.25)
    assert isinstance(keyed["cruise_factor", "window"], Missing)
    for changing in (replace(trace, steady=False), replace(trace, rate_mbps=None)):
        keyed = {(one.parameter, one.source): one for one in bbr.estimate(changing)}
        holds(keyed["probe_rtt_packets", "window"], 4)
        assert isinstance(keyed["probe_up_gain", "window"], Missing)
        assert all(isinstance(one, Missing) for one in keyed.values() if one.source == "packets")


@pytest.mark.parametrize("packets", [0, 1, 9])
def test_hardly_any_packets_and_no_export_at_all(packets: int) -> None:
    trace = run(Bbr())
    bare = replace(trace, packets=trace.packets.head(packets), transport=schema.empty())
    found = list(bbr.estimate(bare))
    assert found
    assert all(isinstance(one, Missing) for one in found)
    kind = trace.packets["outcome"].dtype
    dropped = bare.packets.with_columns(outcome=pl.lit("dropped").cast(kind), departure_ns=None)
    found = [one for one in bbr.estimate(replace(trace, packets=dropped)) if one.source == "packets"]
    assert all(isinstance(one, Missing) for one in found)


@pytest.mark.parametrize("family", ["cubic", "reno"])
def test_other_families_have_none_of_these(family: str) -> None:
    assert not list(bbr.estimate(replace(run(Bbr()), family=family)))


def test_every_parameter_is_defined() -> None:
    assert {one.parameter for one in bbr.estimate(run(Bbr()))} <= set(PARAMETERS)


def told(trace: FlowTrace, state: str | None) -> FlowTrace:
    """The same flow of a stack that names this state all the time."""
    return replace(trace, transport=trace.transport.with_columns(state=pl.lit(state, pl.String)))


PROBE_BW_KEYS = ("cruise_factor", "cwnd_gain", "probe_up_gain", "probe_down_gain", "cycle_rounds")


@pytest.mark.parametrize("state", ["startup", "open", None])
@pytest.mark.parametrize("receiver_packets", [60, 90, 130])
def test_a_limited_flow_that_stays_in_startup_does_not_cruise(
    receiver_packets: int, state: str | None
) -> None:
    """A right BBR to a small receive window was said to cruise at 2.856, with a window of 2.94 BDP."""
    found = by_key(told(run(Bbr(receiver_packets=receiver_packets)), state))
    for source in SOURCES:
        for key in PROBE_BW_KEYS:
            assert isinstance(found[key, source], Missing), (key, found[key, source])
    cruise = found["cruise_factor", "window"]
    assert isinstance(cruise, Missing)
    assert ("never shows ProbeBW" if state == "startup" else "left Startup") in cruise.why


@pytest.mark.parametrize("state", ["open", None])
def test_without_states_a_fall_from_startups_level_shows_that_it_is_over(state: str | None) -> None:
    found = by_key(told(run(Bbr(up=1.0, down=1.0)), state))
    for source in SOURCES:
        holds(found["cruise_factor", source], 0.99)
    holds(found["cwnd_gain", "window"], 2.0, 2.885)


def until(trace: FlowTrace, end_s: float) -> FlowTrace:
    """The flow dies: no packet and no row after this time, while the trial goes on."""
    end_ns = round(end_s * 1e9)
    return replace(
        trace,
        packets=trace.packets.filter(pl.col("arrival_ns") < end_ns),
        transport=trace.transport.filter(pl.col("time_ns") < end_ns),
    )


def test_a_log_that_misses_the_end_of_draining_shows_no_gains() -> None:
    """With rows for changes of the window alone, 0.75 was the cruising rate, and 1.333 a gain."""
    trace = run(Bbr())
    changed = trace.transport.filter(pl.col("pacing_bps") != pl.col("pacing_bps").shift().fill_null(0))
    whole = by_key(replace(trace, transport=changed))
    holds(whole["probe_up_gain", "window"], 1.25, 1.333)
    holds(whole["cruise_factor", "window"], 0.99, 0.75)
    cruises = (pl.col("pacing_bps") - 20e6 * PAYLOAD / FRAME * 0.99).abs() < 1e5
    found = by_key(replace(trace, transport=changed.filter(~cruises | (pl.col("time_ns") < 2e9))))
    for key in ("cruise_factor", "probe_up_gain", "probe_down_gain", "cycle_rounds", "startup_gain"):
        one = found[key, "window"]
        assert isinstance(one, Missing)
        assert "packets leave faster than the last pacing rate in the log" in one.why
    holds(found["probe_up_gain", "packets"], 1.25)


def test_random_losses_hide_the_cruising_rate_of_a_later_bbr_alone() -> None:
    for rounds, shown in ((8.0, True), (50.0, False)):
        trace = replace(run(Bbr(cycle_rounds=rounds)), random_loss=True)
        assert isinstance(by_key(trace)["cruise_factor", "window"], Estimate) == shown


@pytest.mark.parametrize(
    ("rounds", "drifts", "shown"), [(50.0, 0, True), (50.0, 0.3, False), (8.0, 0.02, True)]
)
def test_a_rate_that_drifts_between_the_probes_of_a_later_bbr_is_no_cruising_rate(
    rounds: float, drifts: float, shown: bool
) -> None:
    """tquic's BBRv3 was said to cruise at 0.935: each 2.5 s its rate falls from 0.96 to 0.69."""
    trace = run(Bbr(cycle_rounds=rounds))
    cycle_ns = round(rounds * trace.rtt_ns)
    into = (pl.col("time_ns") - trace.start_ns) % cycle_ns / cycle_ns
    rows = trace.transport.with_columns(
        pacing_bps=(pl.col("pacing_bps") * (1 - drifts * into)).cast(pl.Int64)
    )
    found = {(one.parameter, one.source): one for one in bbr.estimate(replace(trace, transport=rows))}
    assert isinstance(found["probe_up_gain", "window"], Estimate)
    assert isinstance(found["cruise_factor", "window"], Estimate) == shown


def test_a_dead_flows_last_rate_is_not_carried_on() -> None:
    trace = run(Bbr())
    # it dies while it probes
    probing = trace.transport.filter((pl.col("pacing_bps") > 22e6) & (pl.col("time_ns") > 4_500_000_000))
    dead = until(trace, probing["time_ns"][0] / 1e9 + 0.03)
    for log in (dead, told(dead, None)):
        cruise = by_key(log)["cruise_factor", "window"]
        holds(cruise, 0.99, 1.2375)
        assert measured(cruise).events <= 3


def test_dead_in_startup() -> None:
    """Flows that RED had killed were said to cruise at 2.89 and 6.07."""
    dead = until(run(Bbr()), 0.45)
    for log in (dead, told(dead, "open"), told(dead, "startup")):
        found = by_key(log)
        assert all(isinstance(found[key, source], Missing) for key in PROBE_BW_KEYS for source in SOURCES)
        assert isinstance(found["startup_gain", "window"], Missing)


@pytest.mark.parametrize(
    ("words", "inside"),
    [
        (["startup", "drain", "probe_bw", "probe_rtt", "probe_bw"], [0, 0, 1, 0, 1]),
        (["startup", "probe_bw_down", "probe_bw_refill", "probe_bw_up", "probe_bw_cruise"], [0, 1, 1, 1, 1]),
        (["Startup", "ProbeBW", None, "recovery", "ProbeRTT"], [0, 1, 1, 1, 0]),
        # tquic has a word for Startup alone
        (["startup", "startup", None, None, None], [0, 0, 1, 1, 1]),
        (["startup", "startup", "probe_rtt", "startup", "startup"], [0, 0, 0, 0, 0]),
        (["open", "recovery", "open", "loss", "open"], None),
        ([None, None, None, None, None], None),
    ],
)
def test_what_a_log_says_of_probe_bw(words: list[str | None], inside: list[int] | None) -> None:
    trace = run(Bbr(seconds=15))
    rows = trace.transport.head(5).with_columns(state=pl.Series(words, dtype=pl.String))
    times = rows["time_ns"].to_numpy()
    found = says_probe_bw(replace(trace, transport=rows), np.concatenate((times[:1] - 1, times)))
    assert (None if found is None else found.tolist()) == (None if inside is None else [0, *inside])


def test_a_silence_is_longer_than_three_round_trips() -> None:
    trace = run(Bbr(seconds=15))
    without = trace.packets.filter(~pl.col("arrival_ns").is_between(5_000_000_000, 5_400_000_000))
    times = np.array([4_000_000_000, 5_100_000_000, 5_300_000_000, 6_000_000_000])
    assert in_silence(trace, times).tolist() == [False] * 4
    assert in_silence(replace(trace, packets=without), times).tolist() == [False, True, True, False]


def test_a_low_window_without_packets_is_a_timeouts_and_no_probe_rtt() -> None:
    trace = run(Bbr(seconds=15))
    stage = LowStage(5_000_000_000, 5_000_000_000, 5_300_000_000, 4.0, 50_000_000)
    assert plausible([stage], trace) == [stage]
    without = trace.packets.filter(~pl.col("arrival_ns").is_between(5_000_000_000, 5_400_000_000))
    assert plausible([stage], replace(trace, packets=without)) == []


def test_a_silence_is_not_a_flows_usual_rate() -> None:
    """Of a trial three times as long as its flow: "window in ProbeRTT is 9.44 BDP; should be 0.5"."""
    trace = run(Bbr())
    longer = bdp_of(replace(trace, end_ns=3 * trace.end_ns))
    assert longer == pytest.approx(bdp_of(trace), rel=0.02)


def test_a_log_and_a_path_out_of_all_proportion_take_no_memory() -> None:
    trace = run(Bbr())
    one = trace.transport["time_ns"][len(trace.transport) // 2]
    rows = trace.transport.with_columns(
        cwnd_bytes=pl.when(pl.col("time_ns") == one).then(10**15).otherwise("cwnd_bytes")
    )
    holds(by_key(replace(trace, transport=rows))["cwnd_gain", "window"], 2.0)
    short = by_key(replace(trace, rtt_ms=0.01))["cruise_factor", "window"]
    assert isinstance(short, Missing) and "too many" in short.why


def test_a_flow_without_payload_has_no_window_in_packets() -> None:
    """A TCP sender whose packets are acknowledgements alone: frames of 66 bytes."""
    trace = run(Bbr())
    packets = trace.packets.with_columns(size_bytes=pl.lit(66, trace.packets.schema["size_bytes"]))
    assert list(bbr.estimate(replace(trace, protocol="tcp", packets=packets)))
