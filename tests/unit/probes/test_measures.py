"""The measures, on senders whose truth is known."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from cambrian.metrics.columns import PACKETS, Int64Array
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.probes import latecomer, lone_losses, lost_acks, marks, outages, start, steady, table
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import ProbedFlow
from cambrian.study.model import Change, Network
from cambrian.testbed import probe
from tests.unit.metrics.parameters.sender_model import Sender as TrainSender
from tests.unit.probes.model import (
    ECN,
    FORWARD,
    FRAME,
    LONE,
    LOST_ACKS,
    OUTAGES,
    OUTAGES_S,
    RTT,
    Sender,
    alone_with,
    beside_small,
    each_nth,
    in_outage,
    network,
    nothing,
    trace,
)
from tests.unit.probes.model import seen as alone


def value(figure: Figure | NoFigure) -> float:
    assert isinstance(figure, Figure), figure
    return figure.value


def test_places_of_lone_losses_are_those_that_the_path_lost() -> None:
    lost: list[int] = []
    arrived = 0

    def loses(number: int, now: int) -> bool:
        nonlocal arrived
        if each_nth(number, now):
            lost.append(arrived)
            return True
        arrived += 1
        return False

    Sender().run(LONE, loses, duration_s=20)
    assert len(lost) >= 3
    assert lone_losses.positions(arrived, 1500).tolist() == lost


@pytest.mark.parametrize("beta", [0.5, 0.7, 0.85])
def test_a_lone_loss_leaves_the_share_that_the_sender_cuts_to(beta: float) -> None:
    seen = Sender(cut=lambda window, event: window * beta).run(LONE, each_nth, duration_s=40)
    assert value(lone_losses.kept(seen)) == pytest.approx(beta, abs=0.03)
    assert value(lone_losses.answered_percent(seen)) == 100


def test_losses_that_are_ignored_are_not_answered() -> None:
    seen = Sender(cut=lambda window, event: window).run(LONE, each_nth, duration_s=40)
    assert value(lone_losses.kept(seen)) > 0.97
    assert value(lone_losses.answered_percent(seen)) == 0


def test_every_second_loss_answered_is_half_of_them() -> None:
    seen = Sender(cut=lambda window, event: window * (0.7 if event % 2 else 1)).run(LONE, each_nth, 60)
    assert value(lone_losses.answered_percent(seen)) == pytest.approx(50, abs=10)


def test_the_time_to_a_fall_is_measured_and_a_late_one_is_no_answer() -> None:
    soon = Sender().run(LONE, each_nth, 40)
    assert value(lone_losses.delay_trips(soon)) == pytest.approx(1.0, abs=0.5)
    late = Sender(late=3).run(LONE, each_nth, 40)
    assert value(lone_losses.answered_percent(late)) < 30
    assert value(lone_losses.delay_trips(late)) == pytest.approx(4.0, abs=0.5)
    assert isinstance(
        lone_losses.delay_trips(Sender(cut=lambda window, event: window).run(LONE, each_nth, 40)), NoFigure
    )


def test_a_flight_that_comes_straight_back_is_seen_later() -> None:
    slow = value(lone_losses.later(Sender().run(LONE, each_nth, 40)))
    fast = value(lone_losses.later(Sender(growth=20.0).run(LONE, each_nth, 40)))
    assert slow == pytest.approx(0.7 + 5 / 90, abs=0.05)
    assert fast > slow + 0.15


def test_mean_window_counts_packets_in_flight() -> None:
    seen = Sender(growth=0.0, cut=lambda window, event: window, initial=60.0).run(LONE, each_nth, 20)
    assert value(lone_losses.window_packets(seen)) == pytest.approx(60, abs=1.5)


SMALL = {
    "flight": (LONE, each_nth, lone_losses.window_packets, 0.2),
    "after a blackout": (OUTAGES, in_outage, outages.blackout_restart, 0.05),
    "after timeouts": (LOST_ACKS, nothing, lost_acks.timeout_kept, 0.05),
}


@pytest.mark.parametrize("which", SMALL)
def test_small_frames_beside_full_ones_change_no_share_of_a_flight(which: str) -> None:
    """They were the unit where they are more than half: a flight of 60 full packets counted as 700."""
    where, loses, measure, within = SMALL[which]
    plain = Sender(growth=0.0, collapses=False, cut=lambda window, event: window, initial=60.0).run(
        where, loses
    )
    small = beside_small(plain.packets)
    mixed = alone(replace(plain.trace, packets=small), where)
    assert value(measure(mixed)) == pytest.approx(value(measure(plain)), rel=within)


def test_a_flight_that_still_decays_gives_a_limit() -> None:
    """A sender that keeps most of its window at a loss comes down from slow start for minutes."""
    slow = Sender(growth=0.2, cut=lambda window, event: window * 0.9, initial=150.0)
    early = lone_losses.window_packets(slow.run(LONE, each_nth, 20))
    assert isinstance(early, Figure) and early.at_most and not early.at_least
    assert early.value > 60
    flow = slow.run(LONE, each_nth, 20)
    bbr = lone_losses.window_packets(replace(flow, trace=replace(flow.trace, family="bbr")))
    assert isinstance(bbr, NoFigure)
    assert bbr.why.startswith("its flight still changes: from ")
    # the same sender, once it has come down
    settled = replace(slow, initial=30.0).run(LONE, each_nth, 300)
    found = lone_losses.window_packets(settled)
    assert value(found) < 60
    assert isinstance(found, Figure) and not found.at_most


def test_a_window_that_never_grows_falls_below_every_other() -> None:
    found = lone_losses.window_packets(Sender(growth=0.0, initial=150.0).run(LONE, each_nth, 40))
    assert isinstance(found, Figure) and found.at_most
    assert found.value < 20


BUSY_S: dict[str, list[tuple[float, float]]] = {
    "never": [],
    "whole": [(0, 60)],
    "one packet": [(0, 0.005)],
    "not in the last quarter": [(0, 40)],
    "not in the third quarter": [(0, 10), (46, 60)],
    "not in the second half": [(0, 29)],
    "only in the last packet": [(0, 29), (59.99, 60)],
    "with idle times": [(0, 1), (17, 18), (34, 35), (52, 60)],
}


@pytest.mark.parametrize("size_bytes", [FRAME, 43])
@pytest.mark.parametrize("every", [1, 400])
@pytest.mark.parametrize("busy", BUSY_S)
def test_every_measure_of_a_flow_with_silences_ends(busy: str, every: int, size_bytes: int) -> None:
    """Two kinds of them ended the report: no packets in a quarter of a flow's life, or only small ones."""
    seconds = np.arange(0, 60, 0.01 * every)
    inside = [(seconds >= begin) & (seconds < end) for begin, end in BUSY_S[busy]]
    arrival_ns = (seconds[np.any(inside, axis=0)] * 1e9 if inside else seconds[:0]).astype(np.int64)
    packets = regular(arrival_ns, arrival_ns + 1_200_000, size_bytes)
    for one in table.probes():
        where = PLACES.get(one.networks[0], network(one.networks[0].strip("*")))
        assert isinstance(one.function(alone_with(packets, 60_000_000_000, where)), Figure | NoFigure)


PLACES = {
    "probe-lone-losses*": LONE,
    "probe-outages*": OUTAGES,
    "probe-lost-acks*": LOST_ACKS,
    "probe-ecn*": ECN,
}


def regular(arrival_ns: Int64Array, departure_ns: Int64Array, size_bytes: int) -> pl.DataFrame:
    """One flow's packets, none of which the queue drops or marks."""
    return pl.DataFrame(
        {
            "flow": [0] * len(arrival_ns),
            "arrival_ns": arrival_ns,
            "departure_ns": departure_ns,
            "size_bytes": [size_bytes] * len(arrival_ns),
            "outcome": ["departed"] * len(arrival_ns),
            "ce": [False] * len(arrival_ns),
        },
        schema=pl.Schema(PACKETS),
    )


def test_too_few_losses_say_so() -> None:
    assert isinstance(lone_losses.kept(Sender().run(LONE, each_nth, duration_s=8)), NoFigure)


def test_one_cut_a_burst() -> None:
    seen = Sender().run(OUTAGES, in_outage)
    found = outages.burst_kept(seen)
    assert isinstance(found, Figure)
    assert found.events == 3
    assert found.value == pytest.approx(0.7, abs=0.04)


def test_a_cut_for_each_packet_of_a_burst() -> None:
    seen = Sender(per_packet=True).run(OUTAGES, in_outage)
    assert value(outages.burst_kept(seen)) < 0.2


def test_a_burst_between_two_trains_loses_nothing_and_does_not_count() -> None:
    """A train of 24 packets takes 58 ms, one of 16 takes 39 ms, and the outage 30 ms: 1.02 and 0.69 kept."""
    reno = Sender(cut=lambda window, event: window / 2, initial=92)
    some, none = (replace(reno, train=train).run(OUTAGES, in_outage) for train in (16, 24))
    found = outages.burst_kept(some)
    assert isinstance(found, Figure)
    assert found.events == 2
    assert found.value == pytest.approx(0.5, abs=0.04)
    assert isinstance(outages.burst_kept(none), NoFigure)
    assert isinstance(outages.burst_silence_trips(none), NoFigure)


def test_silence_after_a_burst_is_measured() -> None:
    assert value(outages.burst_silence_trips(Sender().run(OUTAGES, in_outage))) < 0.7
    silent = Sender(silence=1_000_000_000).run(OUTAGES, in_outage)
    assert value(outages.burst_silence_trips(silent)) > 3


@pytest.mark.parametrize(
    ("wait_ms", "end_s", "bursts"), [(2, 15, 2), (100, 15, 2), (2, 15.2, 3), (100, 16.2, 3)]
)
def test_the_end_of_a_trial_is_no_silence(wait_ms: int, end_s: float, bursts: int) -> None:
    """These senders never pause. In 15 s, one was silent for 1.8 of its round trips, the other for 0.4."""
    found = outages.burst_silence_trips(unpausing(wait_ms, end_s))
    assert isinstance(found, Figure)
    assert found.events == bursts
    assert found.value < 0.1


def test_the_end_of_a_flow_that_gives_up_is_no_silence() -> None:
    whole = Sender(silence=500_000_000).run(OUTAGES, in_outage)
    packets = whole.trace.packets.filter(pl.col("arrival_ns") < 14_800_000_000)
    short = replace(whole, trace=replace(whole.trace, packets=packets, end_ns=14_800_000_000))
    # bursts of which the whole time is heard
    assert value(outages.burst_silence_trips(short)) == pytest.approx(
        value(outages.burst_silence_trips(whole)), abs=0.3
    )


def test_silence_after_a_burst_ends_before_the_next_outage() -> None:
    """Ten round trips of 400 ms reach from the third burst into the blackout."""
    found = outages.burst_silence_trips(unpausing(300, 30))
    assert isinstance(found, NoFigure)
    assert found.why.startswith("0 undisturbed bursts followed by 10 round trips without the flow's end or ")


def unpausing(wait_ms: int, end_s: float) -> ProbedFlow:
    """A packet every 3 ms, except for those that outages lose; the queue holds each for so long."""
    times = np.arange(0, end_s, 0.003)
    lost = [(times >= begin + 0.05) & (times < end + 0.05) for begin, end in OUTAGES_S]
    times = (times[~np.any(lost, axis=0)] * 1e9).astype(np.int64)
    packets = regular(times, times + wait_ms * 1_000_000, 1242)
    return alone_with(packets, round(end_s * 1e9), OUTAGES)


def test_a_collapsed_window_restarts_small_and_one_that_did_not_at_once() -> None:
    small = Sender().run(OUTAGES, in_outage)
    large = Sender(collapses=False, cut=lambda window, event: window).run(OUTAGES, in_outage)
    assert value(outages.blackout_restart(small)) < 0.2
    assert value(outages.blackout_restart(large)) > 0.6


def test_silence_and_recovery_after_a_blackout() -> None:
    seen = Sender().run(OUTAGES, in_outage)
    arrivals = seen.flight.arrival_ns
    first = arrivals[np.searchsorted(arrivals, 21.05e9)]
    assert value(outages.blackout_silence(seen)) == pytest.approx((first - 21.05e9) / 3e9)
    recovery = outages.blackout_recovery_s(seen)
    assert 0 < value(recovery) < 5
    assert isinstance(recovery, Figure)
    assert not recovery.at_least


def test_a_flow_that_is_not_full_again_by_the_end_took_at_least_until_then() -> None:
    seen = Sender().run(OUTAGES, in_outage)
    trace = replace(seen.trace, end_ns=23_200_000_000)
    recovery = outages.blackout_recovery_s(replace(seen, trace=trace, end_ns=trace.end_ns))
    assert isinstance(recovery, Figure)
    assert recovery.at_least
    assert 0 < recovery.value < 0.5
    # one that gave up then is not back until the trial's end, 6.8 s later
    gone = outages.blackout_recovery_s(replace(seen, trace=trace))
    assert isinstance(gone, Figure) and gone.at_least
    assert gone.value == pytest.approx(recovery.value + 6.8)


@pytest.mark.parametrize("died_s", [14.02, 24.4])
def test_a_flow_that_dies_is_silent_until_the_trials_end(died_s: float) -> None:
    seen = Sender().run(OUTAGES, in_outage)
    assert value(outages.silent_end_s(seen)) < 0.2
    packets = seen.packets.filter(pl.col("arrival_ns") < died_s * 1e9)
    gone = replace(seen, trace=replace(seen.trace, packets=packets, end_ns=round(died_s * 1e9)))
    assert value(outages.silent_end_s(gone)) == pytest.approx(30 - died_s, abs=0.1)
    nothing_sent = replace(gone, trace=replace(gone.trace, packets=packets.clear()))
    assert outages.silent_end_s(nothing_sent) == NoFigure("the flow sent no data")


@pytest.mark.parametrize("key", ["loss_percent", "return_loss_percent"])
@pytest.mark.parametrize(("end_s", "seen"), [(24.0, True), (26.0, False), (None, False)])
def test_a_timer_may_still_run_soon_after_an_outage(key: str, end_s: float | None, seen: bool) -> None:
    steps = [{"at_s": 22, key: 100}, *([{"at_s": end_s, key: 0}] if end_s else [])]
    where = network("probe-outages", schedule=tuple(map(Change.model_validate, steps)))
    silent = replace(Sender().run(OUTAGES, in_outage), network=where)
    assert isinstance(outages.silent_end_s(silent), Figure if seen else NoFigure)


def test_a_flow_that_never_filled_the_link_did_not_lose_it_in_the_blackout() -> None:
    """As kernel TCP with a small window: it "took at least 6.8 s" to a rate that it never had."""
    seen = Sender().run(OUTAGES, in_outage)
    faster = replace(seen, network=seen.network.model_copy(update={"rate_mbps": 9.0}))
    recovery = outages.blackout_recovery_s(faster)
    assert recovery == NoFigure("the flow did not carry 80 % of the link before the blackout either")


def test_control_packets_after_a_blackout_are_no_restart() -> None:
    seen = Sender().run(OUTAGES, in_outage)
    arrivals = seen.flight.arrival_ns
    row = seen.trace.packets.row(int(np.searchsorted(arrivals, 21.05e9)), named=True)
    early = 21_150_000_000
    control = {**row, "size_bytes": 83, "arrival_ns": early, "departure_ns": early}
    packets = pl.concat([seen.trace.packets, pl.DataFrame([control], schema=seen.trace.packets.schema)])
    answered = replace(seen, trace=replace(seen.trace, packets=packets.sort("arrival_ns")))
    for measure in (outages.blackout_silence, outages.blackout_restart, outages.blackout_recovery_s):
        assert value(measure(answered)) == pytest.approx(value(measure(seen)), rel=1e-6)


def test_a_flow_that_never_comes_back_counts_to_the_end() -> None:
    seen = Sender().run(OUTAGES, lambda number, now: in_outage(number, now) or now > 18e9)
    assert isinstance(outages.blackout_restart(seen), NoFigure)
    assert value(outages.blackout_silence(seen)) == pytest.approx((30 - 21.05) / 3)
    # one that gave up in the blackout was silent until the trial's end, not until its own
    gone = replace(seen, trace=replace(seen.trace, end_ns=int(seen.flight.arrival_ns[-1])))
    assert value(outages.blackout_silence(gone)) == pytest.approx((30 - 21.05) / 3)
    assert isinstance(outages.blackout_recovery_s(seen), NoFigure)


def frame(sizes: list[int], waits_ms: list[int], marked: list[int] | None = None) -> ProbedFlow:
    count = len(sizes)
    arrivals = [10_000_000_000 + 1_000_000 * number for number in range(count)]
    packets = pl.DataFrame(
        {
            "flow": [0] * count,
            "arrival_ns": arrivals,
            "departure_ns": [one + 1_000_000 * wait for one, wait in zip(arrivals, waits_ms, strict=True)],
            "size_bytes": sizes,
            "outcome": ["departed"] * count,
            "ce": [number in (marked or []) for number in range(count)],
        },
        schema=pl.Schema(PACKETS),
    )
    return alone(trace(packets, 20_000_000_000), network("probe-ecn", queue="codel", ecn=True))


def test_a_larger_probe_of_the_mtu_leaves_the_others_full() -> None:
    assert value(steady.full_percent(frame([1242] * 999 + [1514], [4] * 1000))) == 100


def test_frames_of_uneven_sizes_are_large_and_small_ones_beside_them_are_not() -> None:
    assert value(steady.full_percent(frame([1100, 1200, 1300, 1421] * 250, [4] * 1000))) == 100
    assert value(steady.full_percent(frame([1421, 300] * 500, [4] * 1000))) == 50


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_no_figure_is_nan(number: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        Figure(number, 1)


def test_sizes_delay_and_rate_are_of_the_settled_flow() -> None:
    seen = frame([1000] * 80 + [100] * 20, [4] * 100)
    assert value(steady.full_percent(seen)) == 80
    assert value(steady.usual_frame_bytes(seen)) == 1000
    assert value(steady.delay_ms(seen)) == 4
    # 82,000 bytes from 50 round trips after the start to the end
    assert value(steady.carried_mbps(seen)) == pytest.approx(82_000 * 8 / (20 - 50 * RTT / 1e9) / 1e6)


def test_half_of_the_bytes_and_not_of_the_packets_say_which_frame_is_usual() -> None:
    assert value(steady.usual_frame_bytes(frame([1500] * 30 + [60] * 70, [0] * 100))) == 1500


def test_without_marks_there_is_nothing_to_say_of_them() -> None:
    assert isinstance(marks.delay_ms(frame([1000] * 10, [0] * 10)), NoFigure)
    assert value(marks.marked_percent(frame([1000] * 10, [0] * 10, marked=[3]))) == 10


def few_marks(number: int) -> bool:
    """Those of a queue that marks again an interval later, before the sender's answer arrives."""
    return number % 700 in (0, 25)


def marks_soon_again(number: int) -> bool:
    """Episodes a round trip and a half apart, and many without any."""
    return number % 900 in (0, 60)


def test_marks_of_one_round_trip_are_one_event_where_the_usual_round_trip_is_shorter() -> None:
    """The queue that marks makes this one longer: 55 packets are 1.2 usual ones, and less than their own."""
    deep = Sender(marks=lambda number: number % 1500 in (0, 55), cut=lambda window, event: window * 0.4)
    seen = deep.run(ECN, nothing, 60)
    usual_ns, apart_ns = np.median(seen.flight.round_trip_ns), np.diff(seen.flight.signal_ns)
    assert apart_ns.min() > usual_ns
    assert value(marks.kept(seen)) == pytest.approx(0.4, abs=0.06)


def answered(sender: Sender) -> float:
    return value(marks.answered_percent(sender.run(ECN, nothing, 60)))


@pytest.mark.parametrize("gradual", [1, 20])
@pytest.mark.parametrize("beta", [0.2, 0.5, 0.7, 0.85])
def test_each_mark_that_the_flight_falls_after_is_answered(beta: float, gradual: int) -> None:
    one = Sender(
        marks=few_marks, cut=lambda window, event: window * beta, gradual=gradual, growth=2.0, most=40
    )
    assert answered(one) == 100


def test_a_sender_that_is_silent_until_its_flight_has_fallen_answers() -> None:
    """Its last packet before was sent with the whole flight."""
    rare = Sender(marks=lambda number: number % 3000 == 0, cut=lambda window, event: 2.0, growth=0.5, most=40)
    assert answered(rare) == 100


def test_marks_that_are_ignored_are_not_answered() -> None:
    assert answered(Sender(marks=few_marks, cut=lambda window, event: window, most=40)) == 0
    assert answered(Sender(marks=few_marks, cut=lambda window, event: window * 0.98, most=40)) == 0


@pytest.mark.parametrize(("of", "percent"), [(2, 50), (3, 33)])
def test_one_of_several_marks_answered_is_that_share(of: int, percent: float) -> None:
    one = Sender(marks=few_marks, cut=lambda window, event: window * (1 if event % of else 0.5), most=40)
    assert answered(one) == pytest.approx(percent, abs=6)


def test_the_answer_to_the_next_mark_is_not_that_to_the_one_before() -> None:
    every = Sender(marks=marks_soon_again, cut=lambda window, event: window * 0.6, growth=4.0, most=40)
    assert answered(every) == 100
    second = replace(every, cut=lambda window, event: window * (1 if event % 2 else 0.6))
    assert answered(second) == pytest.approx(50, abs=3)
    first = replace(every, cut=lambda window, event: window * (0.6 if event % 2 else 1))
    assert answered(first) == pytest.approx(50, abs=3)


def test_a_fall_a_round_trip_later_is_no_answer() -> None:
    assert answered(Sender(marks=few_marks, cut=lambda window, event: window * 0.5, late=1, most=40)) == 0


def test_a_small_flight_says_nothing_of_marks() -> None:
    found = marks.answered_percent(Sender(marks=few_marks, most=15).run(ECN, nothing, 60))
    assert found == NoFigure("0 episodes of marks in a flight of 20 packets or more; 3 are needed")


def with_small_packets(flow: ProbedFlow, *times_ns: int) -> ProbedFlow:
    """That flow and packets of 43 bytes that arrive then."""
    small = flow.packets.head(len(times_ns)).with_columns(
        arrival_ns=pl.Series(times_ns), departure_ns=pl.Series(times_ns), size_bytes=pl.lit(43, pl.Int64)
    )
    packets = pl.concat([flow.packets, small.cast(flow.packets.schema)]).sort("arrival_ns")
    return alone(replace(flow.trace, packets=packets), flow.network)


@pytest.mark.parametrize("every", [90_000_000, 300_000_000, 1_000_000_000])
@pytest.mark.parametrize("backs_off", [1.0, 2.0])
def test_a_heartbeat_is_no_timeout(every: int, backs_off: float) -> None:
    silent = Sender(backs_off=backs_off).run(LOST_ACKS, nothing)
    beating = with_small_packets(silent, *range(1_000_000_000, 30_000_000_000, every))
    for measure in (lost_acks.timeout_growth, lost_acks.timeout_trips, lost_acks.timeout_packets):
        assert measure(beating) == measure(silent)


def test_the_first_timeout_is_the_first_one_also_where_it_grows_by_another_factor() -> None:
    """The queue makes the first time of this sender longer."""
    silent = Sender(timeout=300_000_000).run(LOST_ACKS, nothing)
    times = np.diff([at for at in silent.arrivals_ns.tolist() if at > 10_000_000_000])
    assert value(lost_acks.timeout_trips(silent)) == pytest.approx(times[times > RTT / 2][0] / RTT)
    # a packet of another cause soon after the last one
    last = silent.arrivals_ns[np.searchsorted(silent.arrivals_ns, 10_100_000_000 + RTT) - 1]
    pinged = with_small_packets(silent, int(last) + 70_000_000)
    assert lost_acks.timeout_trips(pinged) == NoFigure("its timeouts do not grow by one factor")


def test_small_packets_that_come_only_without_acknowledgements_are_timeouts() -> None:
    silent = Sender(backs_off=1.0).run(LOST_ACKS, nothing)
    # answers to the receiver's packets come before, and none while everything of it is lost
    small = [*range(2_100_000_000, 9_900_000_000, 900_000_000)]
    small += range(10_700_000_000, 18_000_000_000, 200_000_000)
    storm = lost_acks.timeout_packets(with_small_packets(silent, *small))
    assert value(storm) == value(lost_acks.timeout_packets(silent)) + len(small) - 9
    # small timeouts that double are not taken for a heartbeat either
    doubling = [10_000_000_000 + 300_000_000 * (2**step - 1) for step in range(5)]
    few = with_small_packets(Sender(timeout=9_000_000_000).run(LOST_ACKS, nothing), *small[:9], *doubling)
    assert value(lost_acks.timeout_growth(few)) >= 2


def test_a_window_that_timeouts_keep_and_one_that_collapses() -> None:
    assert value(lost_acks.timeout_kept(Sender(collapses=False).run(LOST_ACKS, nothing))) > 0.6
    assert value(lost_acks.timeout_kept(Sender().run(LOST_ACKS, nothing))) < 0.15
    assert isinstance(lost_acks.timeout_kept(Sender(most=40).run(LOST_ACKS, nothing)), NoFigure)


@pytest.mark.parametrize("other", [{"protocol": "tcp"}, {"other_transport": True}])
def test_other_transports_may_lower_their_window_at_a_timeout(other: dict[str, Any]) -> None:
    seen = Sender().run(LOST_ACKS, nothing)
    seen = replace(seen, trace=replace(seen.trace, **other))
    assert lost_acks.timeout_kept(seen) == NoFigure(
        "a timeout may lower the window of a transport other than QUIC"
    )


def test_the_second_longest_silence_after_a_drop() -> None:
    silent = Sender(silence=1_000_000_000).run(OUTAGES, in_outage, 17)
    assert value(steady.loss_silence_trips(with_drops(silent))) == pytest.approx(10, abs=1)
    # silences without a drop may be the application's, and one of them may follow a drop by chance
    assert isinstance(steady.loss_silence_trips(silent), NoFigure)
    assert isinstance(steady.loss_silence_trips(with_drops(silent, bursts=1)), NoFigure)
    assert value(steady.loss_silence_trips(with_drops(Sender().run(OUTAGES, nothing)))) < 0.1
    assert isinstance(steady.loss_silence_trips(Sender().run(OUTAGES, nothing)), NoFigure)


def with_drops(flow: ProbedFlow, bursts: int = 3) -> ProbedFlow:
    """That flow; the queue drops the last packet before each of the first bursts of losses."""
    ends_ns = [round(end_s * 1e9) + FORWARD for _, end_s in OUTAGES_S[:bursts]]
    at = np.searchsorted(flow.arrivals_ns, ends_ns) - 1
    outcome = flow.packets["outcome"].scatter(at.tolist(), "dropped")
    packets = flow.packets.with_columns(outcome=outcome)
    return alone(replace(flow.trace, packets=packets), flow.network)


def test_a_flow_without_a_packet_has_no_timeout() -> None:
    silent = Sender().run(LOST_ACKS, nothing)
    empty = replace(silent, trace=replace(silent.trace, packets=silent.trace.packets.clear()))
    assert value(lost_acks.timeout_packets(empty)) == 0
    assert isinstance(lost_acks.timeout_growth(empty), NoFigure)


def test_timeouts_that_a_heartbeat_may_hide_are_not_counted() -> None:
    silent = Sender(timeout=9_000_000_000).run(LOST_ACKS, nothing)
    beating = with_small_packets(silent, *range(1_000_000_000, 30_000_000_000, 300_000_000))
    assert isinstance(lost_acks.timeout_packets(beating), NoFigure)


def test_the_packets_before_a_flow_are_those_of_the_base_round_trips_probe() -> None:
    wanted = inspect.signature(probe.base_rtt_ns).parameters["wanted"].default
    assert wanted == lone_losses.PROBE_PACKETS


def test_a_late_flows_share_is_of_the_time_after_it_settled() -> None:
    # 60 s, a packet of flow 0 every 10 ms; flow 1 comes at 20 s and has a packet for each three of them
    first = [(0, time) for time in range(0, 60_000, 10)]
    second = [(1, time) for time in range(20_000, 60_000, 30)]
    rows = sorted([*first, *second], key=lambda row: row[1])
    packets = pl.DataFrame(
        {
            "flow": [flow for flow, _ in rows],
            "arrival_ns": [time * 1_000_000 for _, time in rows],
            "departure_ns": [time * 1_000_000 for _, time in rows],
            "size_bytes": [1500] * len(rows),
            "outcome": ["departed"] * len(rows),
            "ce": [False] * len(rows),
        },
        schema=pl.Schema(PACKETS),
    )
    mine = trace(packets.filter(pl.col("flow") == 0), 60_000_000_000, alone=False)
    both = ProbedFlow(mine, network("probe-latecomer"), packets, (0, 20_000_000_000), 60_000_000_000)
    assert value(latecomer.share_percent(both)) == pytest.approx(25, abs=0.1)


@pytest.mark.parametrize("together", [2, 40])
def test_the_largest_burst_of_slow_start(together: int) -> None:
    trace = TrainSender(pacing=1.0, train=together, packets=700).run()
    assert value(start.burst_packets(started(trace))) == pytest.approx(together, abs=2)


def started(trace: FlowTrace) -> ProbedFlow:
    network = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)
    return ProbedFlow(trace, network, trace.packets, (trace.start_ns,), trace.end_ns)


@pytest.mark.parametrize(("protocol", "most"), [("quic", 2), ("tcp", 60)])
def test_what_answers_a_drop_is_no_burst_of_slow_start(protocol: str, most: int) -> None:
    """Two drops, two deliveries, in turns: packet numbers tell after two deliveries, ACKs after three."""
    trace = TrainSender(pacing=1.0, train=2, packets=700).run(protocol=protocol)
    place, first = pl.int_range(pl.len()), 300
    dropped = (place >= first) & (place < first + 8) & ((place - first) % 4 < 2)
    packets = trace.packets.with_columns(
        outcome=pl.when(dropped).then(pl.lit("dropped")).otherwise("outcome"),
        departure_ns=pl.when(~dropped).then("departure_ns"),
    )
    known_ns = int(packets["departure_ns"][first + 3]) + trace.rtt_ns
    burst = packets.slice(10, 60).with_columns(
        arrival_ns=known_ns + pl.int_range(60), departure_ns=known_ns + pl.int_range(60)
    )
    packets = pl.concat([packets, burst.cast(packets.schema)]).sort("arrival_ns")
    found = value(start.burst_packets(started(replace(trace, packets=packets))))
    assert found == pytest.approx(most, abs=3)


@pytest.mark.parametrize("grows", [1, 2, 3])
@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"initial": 32},
        {"ack_every": 10},
        {"pacing": 2.0, "train": 4},
        {"buffer_packets": 250},
        # a window of the next round trip and more: what it sent says nothing of a round trip's edges
        {"pacing": 1.05, "initial": 20},
    ],
)
def test_growth_in_slow_start_is_for_each_byte_acknowledged(grows: int, kind: dict[str, Any]) -> None:
    trace = TrainSender(growth=lambda window, acked: grows * acked, packets=1500, **kind).run()
    found = value(start.growth(started(trace)))
    # a pacer and a receiver that waits hide a part of a window, and nothing makes it larger
    assert found == pytest.approx(grows, rel=0.2)
    assert found <= grows + 0.01


def test_growth_in_slow_start_ends_where_the_sender_can_know_of_a_drop() -> None:
    """What is in flight then was sent before it knew; what a sender does later is another thing."""
    fast = TrainSender(avoidance=lambda window, acked: 5 * acked, packets=1500).run()
    assert value(start.growth(started(fast))) == pytest.approx(1, abs=0.02)


def test_acknowledgements_that_the_sender_gives_are_no_growth() -> None:
    trace = TrainSender(packets=1500).run()
    row = trace.packets.row(5, named=True)
    small = pl.DataFrame([{**row, "size_bytes": 80}] * 5000, schema=trace.packets.schema)
    packets = pl.concat([trace.packets, small]).sort("arrival_ns")
    found = value(start.growth(started(replace(trace, packets=packets))))
    assert found == pytest.approx(value(start.growth(started(trace))), abs=0.001)


def test_growth_in_slow_start_needs_packets_that_are_acknowledged() -> None:
    trace = TrainSender(packets=1500, initial=20, buffer_packets=12).run()
    assert start.growth(started(trace)) == NoFigure(
        "fewer than 100 packets are acknowledged before the first drop or mark"
    )


@pytest.mark.parametrize(("most", "percent"), [(16, 19), (41, 50), (120, 100)])
def test_the_throughput_after_a_slow_start_that_ends_at_a_window(most: int, percent: float) -> None:
    trace = TrainSender(
        growth=lambda window, acked: acked if window + acked <= most else 0, packets=2500
    ).run()
    assert value(start.carried_percent(started(trace))) == pytest.approx(percent, abs=2)


def test_the_throughput_after_slow_start_needs_twenty_round_trips() -> None:
    trace = TrainSender(growth=lambda window, acked: acked if window < 120 else 0, packets=600).run()
    assert "20 round trips" in str(start.carried_percent(started(trace)))
    assert start.carried_percent(started(replace(trace, rate_mbps=None))) == NoFigure(
        "the link's rate changes"
    )
