"""Pauses, on packets whose truth is known: 10 Mbps, 100 ms, frames of 1514 bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl
import pytest

from cambrian.metrics.columns import NS_PER_S, PACKETS
from cambrian.probes import pauses
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import ProbedFlow
from tests.unit.probes.model import FRAME, RTT, alone_with, beside_small, network

SERVICE_NS = FRAME * 8 * 100
NETWORK = network("probe-pauses", rate_mbps=10, buffer_bdp=1)


def seen(arrivals_ns: Iterable[int], sizes: int = FRAME) -> ProbedFlow:
    """A sender whose packets meet the queue then, none lost."""
    rows, free_at = [], 0
    for arrival_ns in arrivals_ns:
        free_at = max(free_at, arrival_ns) + SERVICE_NS
        rows.append((0, arrival_ns, free_at, sizes, "departed", False))
    columns = ["flow", "arrival_ns", "departure_ns", "size_bytes", "outcome", "ce"]
    frame = pl.DataFrame(rows, schema={name: PACKETS[name] for name in columns}, orient="row")
    return alone_with(frame, 60 * NS_PER_S, NETWORK)


def rounds(begin_ns: int, packets: Iterable[int], spread: float = 0.0) -> list[int]:
    """So many packets in each round trip from ``begin_ns`` on, over this share of it."""
    return [
        begin_ns + number * RTT + round(spread * RTT * index / count)
        for number, count in enumerate(packets)
        for index in range(count)
    ]


def idle(*after: list[int], spread: float = 0.0) -> list[int]:
    """A busy window of 60 packets for a second, then restarts, 16 s apart."""
    times = rounds(0, [60] * 10, spread=0.9)
    for number, packets in enumerate(after, 1):
        times += rounds(number * 16 * NS_PER_S, packets, spread)
        # busy again before the next pause
        times += rounds(number * 16 * NS_PER_S + 5 * RTT, [60] * 10, spread=0.9)
    return times


def value(figure: Figure | NoFigure) -> float:
    assert isinstance(figure, Figure), figure
    return figure.value


def test_a_restart_is_a_share_of_the_flight_before() -> None:
    few = seen(idle([10, 20, 40, 60], [10, 20, 40, 60]))
    whole = seen(idle([60, 60, 60, 60], [60, 60, 60, 60]))
    assert value(pauses.idle_restart(few)) == pytest.approx(10 / 60, abs=0.03)
    assert value(pauses.idle_restart(whole)) == pytest.approx(1.0, abs=0.05)


def test_a_window_that_counts_the_pause_grows() -> None:
    leaps = seen(idle([60, 90, 135, 200], [60, 90, 135, 200], spread=0.9))
    keeps = seen(idle([60, 61, 62, 63], [60, 61, 62, 63], spread=0.9))
    assert value(pauses.idle_growth(leaps)) > 2
    assert value(pauses.idle_growth(keeps)) == pytest.approx(1.05, abs=0.05)


def test_a_burst_is_what_pacing_does_not_explain() -> None:
    paced = rounds(0, [60] * 10, spread=0.9)
    for begin in (16 * NS_PER_S, 32 * NS_PER_S):
        paced += rounds(begin, [60] * 10, spread=0.8)
    at_once = seen(idle([60, 60], [60, 60]))
    assert value(pauses.idle_burst_packets(seen(paced))) == 0
    assert value(pauses.idle_burst_packets(at_once)) == pytest.approx(48, abs=3)


@pytest.mark.parametrize("first", [20, 40, 400])
def test_growth_is_the_large_objects_first_round_trip_over_the_small_ones(first: int) -> None:
    times = [time for number in range(40) for time in rounds(number * 3 * RTT, [20], spread=0.5)]
    times += rounds(40 * 3 * RTT, [first, 60, 60], spread=0.9)
    assert value(pauses.limited_growth(seen(times))) == pytest.approx(first / 20)


def test_acknowledgements_do_not_break_a_silence() -> None:
    data = pl.DataFrame({"at": idle([10, 60], [10, 60])})["at"].to_list()
    with_acks = seen(data)
    small = seen([time + NS_PER_S * 8 for time in (0, 16 * NS_PER_S)], sizes=60)
    both = pl.concat([with_acks.packets, small.packets]).sort("arrival_ns")
    mixed = alone_with(both, 60 * NS_PER_S, NETWORK)
    assert value(pauses.idle_restart(mixed)) == pytest.approx(value(pauses.idle_restart(with_acks)), abs=0.02)


@pytest.mark.parametrize(
    "measure",
    [pauses.idle_restart, pauses.idle_growth, pauses.idle_burst_packets],
    ids=["restart", "growth", "burst"],
)
def test_small_frames_beside_full_ones_are_no_larger_flight(
    measure: Callable[[ProbedFlow], Figure | NoFigure],
) -> None:
    plain = seen(idle([60, 90, 135, 200], [60, 90, 135, 200]))
    small = alone_with(beside_small(plain.packets), 60 * NS_PER_S, NETWORK)
    assert value(measure(small)) == pytest.approx(value(measure(plain)), rel=0.2)


def test_without_pauses_nothing_is_said() -> None:
    busy = seen(rounds(0, [60] * 300, spread=0.9))
    for measure in (
        pauses.idle_restart,
        pauses.idle_growth,
        pauses.idle_burst_packets,
        pauses.limited_growth,
    ):
        assert isinstance(measure(busy), NoFigure)
