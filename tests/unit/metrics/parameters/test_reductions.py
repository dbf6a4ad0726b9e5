"""Congestion events in windows that are written down by hand, and the flight of a few packets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.metrics.columns import PACKETS, BoolArray, FloatArray, Int64Array
from cambrian.metrics.parameters import decrease, flight_reductions, reductions
from cambrian.metrics.parameters.estimate import Estimate, Missing
from cambrian.metrics.parameters.flight import NEVER_NS, Flight, flight
from cambrian.metrics.parameters.reductions import Reductions, Signals
from cambrian.metrics.parameters.window import STEP_SEGMENTS, Window, of_stack
from tests.unit.metrics.parameters.cubic_model import CubicSender
from tests.unit.metrics.parameters.sender_model import FORWARD, FRAME, RTT

MS = 1_000_000


def window(*values: tuple[int, float], threshold: float = np.nan, timeouts: tuple[int, ...] = ()) -> Window:
    """Of (time in ms, segments)."""
    times = np.array([time for time, _ in values], dtype=np.int64)
    return Window(
        time_ns=times * MS,
        segments=np.array([segments for _, segments in values], dtype=float),
        ssthresh=np.full(len(values), threshold),
        timeout=np.isin(times, timeouts),
        source="window",
        unit_bytes=1472,
        length=0,
    )


def round_trips(*trips_ms: int) -> Flight:
    """A packet each 100 ms, with these round trips."""
    times = np.arange(len(trips_ms), dtype=np.int64) * 100 * MS
    trips_ns = np.array(trips_ms, dtype=np.int64) * MS
    none = np.empty(0, np.int64)
    return Flight(times, none, none, 1514, trips_ns, none, none, none.astype(bool))


def found(of: Window) -> list[tuple[float, float, bool]]:
    events = reductions.in_window(of, round_trips(100), 0)
    return [
        (float(before), float(after), bool(undone))
        for before, after, undone in zip(events.before, events.after, events.undone, strict=True)
    ]


def test_a_fall_at_once() -> None:
    assert found(window((0, 99), (10, 100), (20, 70), (90, 71))) == [(100, 70, False)]


def test_a_fall_over_a_round_trip_is_one() -> None:
    falling = [(10 + n, 100 - n) for n in range(31)]
    assert found(window((0, 100), *falling, (60, 71), (70, 72))) == [(100, 70, False)]


def test_a_fall_that_the_flows_end_cuts_short_is_none() -> None:
    """As kernel Reno behind RED: proportional rate reduction had not come down to the threshold."""
    falling = [(10 + n, 100 - n) for n in range(13)]
    assert found(window((0, 100), *falling, threshold=50)) == []
    # at the threshold, without one, or where the flow goes on, it is over
    assert found(window((0, 100), *falling, threshold=87.5)) == [(100, 88, False)]
    assert found(window((0, 100), *falling)) == [(100, 88, False)]
    assert found(window((0, 100), *falling, (300, 88), (301, 89), threshold=50)) == [(100, 88, False)]


def test_two_falls_at_once_within_a_round_trip_are_two() -> None:
    assert found(window((0, 300), (10, 210), (60, 211), (70, 148))) == [(300, 210, False), (211, 148, False)]


def gradual(before: float, after: float, steps: list[float], threshold: float) -> Window:
    """Down in these steps, a millisecond each, then at rest; the threshold is known from the first on."""
    values = [before, before]
    for step in steps:
        values.append(max(after, values[-1] - step))
    values += [after, after, after + 1]
    of = window(*((10 * n if n < 2 else 10 + n, value) for n, value in enumerate(values)))
    known = np.full(len(values), threshold)
    known[:2] = np.nan if np.isnan(threshold) else 2 * before
    return replace(of, ssthresh=known)


@given(
    st.floats(5, 60),
    st.floats(0.4, 0.8),
    st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0]), min_size=120, max_size=120),
    st.booleans(),
)
def test_a_gradual_fall_is_one_however_small_the_window(
    before: float, beta: float, steps: list[float], told: bool
) -> None:
    """An acknowledgement takes a packet or two off: many a step is more than a twentieth of the window."""
    after = beta * before
    if before - after >= 2 and after > 2.6:
        of = gradual(before, after, steps, after if told else np.nan)
        events = found(of)
        assert len(events) == 1
        assert events[0][:2] == pytest.approx((before, after))


def test_a_burst_of_losses_takes_many_packets_off_a_fall_to_its_threshold() -> None:
    """What is lost leaves the flight at once, and the rest goes with the acknowledgements."""
    of = gradual(24.0, 12.0, [5.0, 1.0, 4.0, 1.0, 1.0], 12.0)
    assert found(of) == [(24, 12, False)]
    # a threshold that the window does not come to is an old one
    assert len(found(gradual(24.0, 14.0, [5.0, 1.0, 4.0], 8.0))) == 1
    assert len(found(gradual(24.0, 14.0, [5.0, 5.0], 8.0))) == 2


@given(st.floats(12, 300), st.floats(0.45, 0.75), st.booleans())
def test_two_cuts_with_a_threshold_each_are_two(before: float, beta: float, told: bool) -> None:
    once, twice = beta * before, beta**2 * before
    of = window((0, before), (10, before), (20, once), (30, twice), (40, twice), (90, twice))
    if told:
        of = replace(of, ssthresh=np.array([2 * before, 2 * before, once, twice, twice, twice]))
    # a tenth of the round trip lies between two rows
    if once - twice > STEP_SEGMENTS + 0.1 * once and twice > 2.6:
        assert len(found(of)) == 2


def test_what_comes_back_is_undone() -> None:
    assert found(window((0, 100), (10, 70), (110, 100), (400, 101))) == [(100, 70, True)]
    assert found(window((0, 100), (10, 70), (310, 100), (400, 101))) == [(100, 70, False)]


def test_a_window_that_holds_the_flight_in_recovery_is_not_undone() -> None:
    """Proportional rate reduction: the threshold, then the packets in flight, then the threshold again."""
    of = window((0, 100), (10, 70), (20, 99), (110, 70), (400, 71))
    assert found(of)[0] == (100, 70, True), "without a threshold, nothing tells"
    kept, taken_back = [200.0, 70.0, 70.0, 70.0, 70.0], [200.0, 70.0, 200.0, 70.0, 70.0]
    assert found(replace(of, ssthresh=np.array(kept))) == [(100, 70, False)]
    assert found(replace(of, ssthresh=np.array(taken_back))) == [(100, 70, True), (99, 70, False)]
    # after a round trip it is taken back, and the same cut comes again (quiche's CUBIC)
    later = window((0, 100), (10, 70), (115, 100), (210, 70), (400, 71))
    assert found(replace(later, ssthresh=np.array(kept))) == [(100, 70, True), (100, 70, False)]


def test_timeouts_and_dips_within_recovery_are_none() -> None:
    assert found(window((0, 100), (10, 2), (200, 4))) == []
    assert found(window((0, 100), (10, 50), (200, 60), timeouts=(10,))) == []
    assert found(window((0, 100), (10, 90), (200, 100), threshold=100.0)) == []
    assert found(window((0, 100), (10, 99.5), (200, 100))) == []


def test_a_threshold_of_zero_stands_for_none() -> None:
    trace = CubicSender(packets=5_000).run()
    transport = trace.transport.with_columns(ssthresh_bytes=pl.lit(0, pl.Int64))
    assert np.isnan(of_stack(replace(trace, transport=transport)).ssthresh).all()


def test_no_window_no_event() -> None:
    assert len(reductions.in_window(window(), round_trips(100), 0)) == 0


def events_of(times_ns: Int64Array, before: FloatArray, after: FloatArray) -> Reductions:
    """At once, and lasting."""
    none = np.zeros(len(times_ns), dtype=bool)
    return Reductions(times_ns, times_ns, before, after, none, none, np.zeros(len(times_ns)))


def never(events: Reductions) -> BoolArray:
    return np.zeros(len(events), dtype=bool)


def answers(drops: BoolArray, marks: BoolArray) -> Signals:
    """One drop, one mark, or both, for each event."""
    return Signals(drops.astype(np.int64), marks.astype(np.int64))


def beta_of(events: Reductions, signals: Signals) -> Estimate | Missing:
    return next(iter(decrease.estimates(events, "cubic", "window", signals, never(events), 2.0)))


@pytest.mark.parametrize(("bursts", "most"), [(0, 0.05), (11, 0.05), (20, 0.5)])
def test_bursts_of_drops_excuse_only_a_beta_of_the_flight_in_all_events(bursts: int, most: float) -> None:
    """0.5 of the window, and 24 drops in some events: 0.88 of the flight there, and 0.53 in the others."""
    before = np.full(20, 60.0)
    events = events_of(np.arange(20) * 10**10, before, before / 2)
    drops = np.where(np.arange(20) < bursts, 24, 1)
    found = beta_of(events, Signals(drops, np.zeros(20, np.int64)))
    assert isinstance(found, Estimate) and found.value == 0.5
    assert found.lower_by <= most and (bursts < 20 or found.lower_by > 0.3)


def test_growth_in_many_short_round_trips_takes_nothing_back() -> None:
    """One deep queue at the start does not stretch the round trips of later events."""
    of = window((0, 100), (310, 70), (700, 100), (900, 101))
    assert reductions.in_window(of, round_trips(200, 100, 100, 100, 100), 0).undone.tolist() == [False]
    assert reductions.in_window(of, round_trips(100, 100, 100, 100, 200), 0).undone.tolist() == [True]


def lossy(flown: Flight, *at_ms: int) -> Flight:
    """The flight with a drop that the sender learns of at these times."""
    learnt = np.array(at_ms, dtype=np.int64) * MS
    return replace(flown, signal_ns=learnt, learnt_ns=learnt, marked=np.zeros(len(learnt), bool))


@pytest.mark.parametrize("beta", [0.7, 0.85])
def test_cubic_on_a_very_long_path_does_not_grow_back(beta: float) -> None:
    """With 600 ms CUBIC is back in a few round trips: its curve is read a round trip ahead."""
    rows, cuts, now_ms = [(0, 100.0)], [], 10
    k_s = np.cbrt(100 * (1 - beta) / 0.4)
    for _ in range(3):
        cuts.append(now_ms)
        rows += [
            (now_ms + n, 0.4 * (n / 1000 + 0.6 - k_s) ** 3 + 100) for n in range(0, round(1000 * k_s), 20)
        ]
        now_ms += round(1000 * k_s)
    flown = lossy(round_trips(*[600] * (now_ms // 100 + 20)), *cuts)
    events = reductions.in_window(window(*rows), flown, 0)
    assert len(events) >= 2
    assert not events.grown.any()


def test_growth_back_needs_a_next_loss() -> None:
    """An inflated window (RFC 5681, section 3.2) falls again without one."""
    up = [(20 + n, 50.0 + n) for n in range(51)]
    of = window((0, 100), (20, 50), *up[1:], (300, 50), (500, 51))
    flown = round_trips(*[100] * 12)
    assert reductions.in_window(of, lossy(flown, 20), 0).grown.tolist() == [False, False]
    assert reductions.in_window(of, lossy(flown, 20, 290), 0).grown.tolist() == [True, False]


def test_what_is_kept_after_marks_is_no_beta_of_losses() -> None:
    before = np.full(8, 100.0)
    times = np.arange(8, dtype=np.int64) * 1000 * MS
    share = np.where(np.arange(8) % 2, 0.85, 0.7)
    events = events_of(times, before, before * share)
    beta = beta_of(events, answers(share < 0.8, share > 0.8))
    assert isinstance(beta, Estimate)
    assert beta.value == pytest.approx(0.7)
    every, none = np.ones(8, bool), np.zeros(8, bool)
    alone = events_of(times, before, before * 0.85)
    assert isinstance(beta_of(alone, answers(none, every)), Missing)
    # 0.95 is more than RFC 8511 allows
    much = events_of(times, before, before * 0.95)
    assert isinstance(beta_of(much, answers(none, every)), Estimate)


@pytest.mark.parametrize("dropping", [[0, 1, 2], range(8)])
def test_a_drop_beside_a_mark_makes_no_loss_of_what_the_mark_left(dropping: Sequence[int]) -> None:
    """At the end of slow start a queue marks, and then drops in the same round trip."""
    before = np.full(8, 100.0)
    events = events_of(np.arange(8, dtype=np.int64) * 1000 * MS, before, before * 0.85)
    signals = answers(np.isin(np.arange(8), dropping), np.ones(8, bool))
    assert isinstance(beta_of(events, signals), Missing)
    # after losses, the same share is a β
    losses = beta_of(events, answers(np.ones(8, bool), np.zeros(8, bool)))
    assert isinstance(losses, Estimate) and losses.value == pytest.approx(0.85)


def test_an_event_is_marked_if_its_signals_are() -> None:
    times = np.array([300, 600, 900], dtype=np.int64) * MS
    values = np.ones(3)
    events = events_of(times, values, values)
    flown = round_trips(*[100] * 12)
    learnt = np.array([290, 580, 595], dtype=np.int64) * MS
    known = replace(flown, signal_ns=learnt, learnt_ns=learnt, marked=np.array([True, True, False]))
    # marks; a mark and a drop; no signal
    signals = reductions.signals(events, known, 0)
    assert signals.only_marks.tolist() == [True, False, False]
    assert (signals.marks.tolist(), signals.drops.tolist()) == ([1, 1, 0], [0, 1, 0])


@given(st.floats(0.3, 0.9), st.lists(st.floats(50, 500), min_size=1, max_size=8))
def test_beta_is_inside_whatever_the_windows(beta: float, befores: list[float]) -> None:
    before = np.array(befores)
    times = np.arange(len(before), dtype=np.int64) * 1000 * MS
    events = events_of(times, before, before * beta)
    by_name = {
        one.parameter: one
        for one in decrease.estimates(
            events, "reno", "window", answers(~never(events), never(events)), never(events), 2.0
        )
    }
    assert isinstance(by_name["beta"], Estimate)
    assert abs(by_name["beta"].value - beta) <= by_name["beta"].resolution
    assert isinstance(by_name["emulated_connections"], Estimate)
    assert by_name["emulated_connections"].value == pytest.approx(0.5 / (1 - beta))


def test_below_the_last_maximum() -> None:
    before = np.array([100.0, 90.0, 89.0, 80.0])
    times = np.arange(4, dtype=np.int64)
    events = events_of(times, before, before * 0.7)
    # 90 < 100: W_max becomes 76.5, so that 89 is above it; 80 < 89 is below again
    assert decrease.depth_below_maximum(events) == pytest.approx([-100, 10, -12.5, 9])


def packets(*rows: tuple[int, int | None]) -> pl.DataFrame:
    """Of (arrival, departure or None for a drop), in ms."""
    return pl.DataFrame(
        {
            "flow": [0] * len(rows),
            "arrival_ns": [arrival * MS for arrival, _ in rows],
            "departure_ns": [None if departure is None else departure * MS for _, departure in rows],
            "size_bytes": [FRAME] * len(rows),
            "outcome": ["dropped" if departure is None else "departed" for _, departure in rows],
            "ce": [False] * len(rows),
        },
        schema=PACKETS,
    )


def test_flight_is_what_has_not_been_acknowledged() -> None:
    rtt = RTT // MS
    rows = [(100, 110), (101, None), (102, 120), (103, 130), (104, 140), (110 + rtt, 200), (140 + rtt, 210)]
    seen = flight(packets(*rows), RTT)
    # the first packet is out when its acknowledgement could be; the dropped one with the third after it
    assert (seen.flight_bytes / FRAME).tolist() == [1, 2, 3, 4, 5, 5, 2]
    assert seen.learnt_ns.tolist() == [140 * MS + RTT]
    assert seen.signal_ns.tolist() == [101 * MS]
    assert seen.round_trip_ns[:3].tolist() == [RTT + 10 * MS, RTT + 10 * MS, RTT + 18 * MS]
    assert FORWARD < RTT


def test_no_packet_no_flight() -> None:
    assert len(flight(packets(), RTT).flight_bytes) == 0


def test_a_queue_that_drops_everything_from_a_moment_on_ends_the_search() -> None:
    """Nothing tells the sender of these drops, so no event begins with them."""
    sender = CubicSender(packets=3000)
    trace = sender.run()
    arrival_ns = trace.packets["arrival_ns"]
    dark = trace.packets.with_columns(
        outcome=pl.when(arrival_ns > arrival_ns[2000]).then(pl.lit("dropped")).otherwise(pl.col("outcome")),
        departure_ns=pl.when(arrival_ns > arrival_ns[2000]).then(None).otherwise(pl.col("departure_ns")),
    )
    flown = flight(dark, trace.rtt_ns)
    events = flight_reductions._first_signals(flown)
    assert all(learnt_ns < NEVER_NS for learnt_ns, _ in events)
    assert int((flown.learnt_ns == NEVER_NS).sum()) >= 900
