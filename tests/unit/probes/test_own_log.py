"""What a log says beside its packets: logs whose faults are known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from cambrian.metrics.columns import Int64Array, int64
from cambrian.metrics.parameters.window import OVERHEAD_BYTES
from cambrian.metrics.recovery import FalseLosses
from cambrian.probes import judge, lost_acks, own_log, table
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.probed_flow import ProbedFlow
from cambrian.study.model import Network
from cambrian.trace import schema
from tests.unit.probes.model import (
    FORWARD,
    FRAME,
    LONE,
    LOST_ACKS,
    RTT,
    Sender,
    each_nth,
    network,
    nothing,
)

PAYLOAD = FRAME - OVERHEAD_BYTES["quic"]
DEEP = network("20mbps-50ms-3bdp", buffer_bdp=20)
MS = 1_000_000


def value(figure: Figure | NoFigure) -> float:
    assert isinstance(figure, Figure), figure
    return figure.value


def with_log(flow: ProbedFlow, time_ns: Iterable[int], **columns: Any) -> ProbedFlow:
    """That flow, whose sender logs these columns at these times."""
    rows = pl.DataFrame({"time_ns": time_ns, **columns}).with_columns(flow=0, event=pl.lit("ack"))
    empty = schema.empty()
    log = pl.concat([empty, rows.cast({name: empty.schema[name] for name in rows.columns})], how="diagonal")
    return replace(flow, trace=replace(flow.trace, transport=log, acks=flow.trace.packets.height // 2))


def run(where: Network = LONE, **settings: Any) -> ProbedFlow:
    return Sender(**settings).run(where, each_nth if where is LONE else nothing, 30)


def acknowledged(flow: ProbedFlow, every: int = 1) -> tuple[Int64Array, Int64Array]:
    """When the sender has each n-th acknowledgement, and the round trip of its packet."""
    left = flow.trace.packets.filter(pl.col("outcome") == "departed").gather_every(every, every - 1)
    departure_ns, arrival_ns = int64(left, "departure_ns"), int64(left, "arrival_ns")
    return departure_ns + RTT - FORWARD, departure_ns - arrival_ns + RTT


def with_srtt(flow: ProbedFlow, *, times: float = 1.0, every: int = 2, later_ns: int = 0) -> ProbedFlow:
    """A log of RFC 9002's smoothed round trip, ``times`` too large; ``every``: packets for each ACK."""
    at_ns, trips_ns = acknowledged(flow, every)
    smoothed = [float(trips_ns[0])]
    for trip_ns in trips_ns[1:]:
        smoothed.append(0.875 * smoothed[-1] + 0.125 * (float(trip_ns) + later_ns))
    found = with_log(flow, at_ns + later_ns, srtt_us=(times * np.array(smoothed) / 1000).round())
    return replace(found, trace=replace(found.trace, acks=flow.trace.packets.height // every))


def with_flight(flow: ProbedFlow, *, leaks: float = 0.0, every: int = 2, before: bool = False) -> ProbedFlow:
    """A log of bytes in flight: the network's packets, and a share of those lost so far.

    ``before``: each row counts what its own acknowledgement covers, too.
    """
    at_ns, _ = acknowledged(flow, every)
    sent = np.searchsorted(int64(flow.trace.packets, "arrival_ns") - FORWARD, at_ns, side="right")
    known = np.arange(1 - before, len(at_ns) + 1 - before) * every
    lost = (sent // 1499).astype(float)
    found = with_log(flow, at_ns, in_flight_bytes=(PAYLOAD * (sent - known + leaks * lost)).round())
    return replace(found, trace=replace(found.trace, acks=flow.trace.packets.height // every))


GROWING = {"growth": 20.0, "most": 1000.0, "initial": 10.0}


@pytest.mark.parametrize("settings", [{}, GROWING], ids=["steady", "the-queue-grows"])
@pytest.mark.parametrize(
    "log",
    [{}, {"every": 40}, {"later_ns": 25 * MS}, {"every": 100, "later_ns": 60 * MS}],
    ids=["usual", "seldom", "late", "seldom-and-late"],
)
def test_each_right_way_to_smooth_a_round_trip_is_that_of_the_packets(
    settings: dict[str, Any], log: dict[str, Any]
) -> None:
    assert value(own_log.srtt(with_srtt(run(DEEP, **settings), **log))) == 1


@pytest.mark.parametrize(("times", "low", "high"), [(2.0, 1.5, 2.0), (0.5, 0.5, 0.6), (8.0, 6.0, 8.0)])
def test_another_round_trip_than_the_packets_is_seen(times: float, low: float, high: float) -> None:
    assert low <= value(own_log.srtt(with_srtt(run(DEEP), times=times))) <= high


@pytest.mark.parametrize("times", [1e3, 1e-3])
def test_another_unit_is_no_other_round_trip(times: float) -> None:
    found = own_log.srtt(with_srtt(run(DEEP), times=times))
    assert isinstance(found, NoFigure) and found.why.endswith("in another unit")


def test_a_log_without_round_trips_or_with_few_says_nothing() -> None:
    flow = run(DEEP)
    few = NoFigure("its log has srtt_us in 49 rows; 50 are needed")
    assert own_log.srtt(flow) == NoFigure("its log has srtt_us in 0 rows; 50 are needed")
    at_ns = np.linspace(20e9, 21e9, 49).astype(np.int64)
    assert own_log.srtt(with_log(flow, at_ns, srtt_us=np.full(49, 100_000))) == few
    # a sender that has no sample yet
    at_ns = np.linspace(20e9, 21e9, 99).astype(np.int64)
    assert own_log.srtt(with_log(flow, at_ns, srtt_us=np.repeat([0, 100_000], [50, 49]))) == few
    empty = with_log(flow, at_ns, srtt_us=np.full(99, 100_000))
    empty = replace(empty, trace=replace(empty.trace, packets=flow.trace.packets.clear()))
    assert isinstance(own_log.srtt(empty), NoFigure)


def test_where_the_path_changes_its_round_trip_is_not_known() -> None:
    flow = with_srtt(run(DEEP))
    flow = replace(flow, trace=replace(flow.trace, steady=False, changing="the path's delay changes"))
    assert own_log.srtt(flow) == NoFigure("the path's delay changes")


@pytest.mark.parametrize("log", [{}, {"every": 10}, {"every": 10, "before": True}, {"before": True}])
def test_a_flight_is_that_of_the_packets_however_often_they_are_acknowledged(log: dict[str, Any]) -> None:
    assert value(own_log.beyond_flight_packets(with_flight(run(), **log))) < 1


def test_lost_packets_that_stay_in_flight_are_seen() -> None:
    flow = run()
    lost = len(flow.arrivals_ns) // 1499
    found = value(own_log.beyond_flight_packets(with_flight(flow, leaks=1.0)))
    assert 3 < found <= lost


@pytest.mark.parametrize("settings", [{"acks": None}, {"slow_receiver": True}])
def test_without_known_acknowledgements_a_flight_is_not_compared(settings: dict[str, Any]) -> None:
    flow = with_flight(run(), leaks=1.0)
    flow = replace(flow, trace=replace(flow.trace, **settings))
    assert isinstance(own_log.beyond_flight_packets(flow), NoFigure)


def test_a_slow_receiver_makes_round_trips_longer_than_the_packets_show() -> None:
    flow = with_srtt(run(DEEP), times=2.0)
    flow = replace(flow, trace=replace(flow.trace, slow_receiver=True))
    assert own_log.srtt(flow) == NoFigure("a slow receiver acknowledges its packets late")


def test_losses_that_were_none_are_the_least_that_the_count_allows() -> None:
    count = FalseLosses(declared=120, dropped=20, estimate=100, low=70, high=100)
    flow = run()
    assert value(own_log.false_losses(replace(flow, false_losses=count))) == 70
    assert isinstance(own_log.false_losses(flow), NoFigure)


@pytest.mark.parametrize("other", [{"protocol": "tcp"}, {"other_transport": True}])
def test_a_timeout_is_a_loss_in_other_transports(other: dict[str, Any]) -> None:
    count = FalseLosses(declared=120, dropped=20, estimate=100, low=70, high=100)
    for where, known in ((LOST_ACKS, False), (LONE, True)):
        flow = replace(run(where), false_losses=count)
        assert isinstance(own_log.false_losses(flow), Figure)
        flow = replace(flow, trace=replace(flow.trace, **other))
        assert isinstance(own_log.false_losses(flow), Figure) == known


def with_window(flow: ProbedFlow, *changes: tuple[float, int]) -> ProbedFlow:
    """A log of the window in packets from each time (s) on."""
    return with_log(
        flow,
        [round(at_s * 1e9) for at_s, _ in changes],
        cwnd_bytes=[PAYLOAD * packets for _, packets in changes],
    )


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ([(9.9, 80), (11, 80), (17, 80)], 1.0),
        ([(9.9, 80), (11, 2), (17, 2), (18.1, 80)], 0.025),
        # the last acknowledgements may tell of a loss
        ([(9.9, 80), (10.09, 40), (11, 40), (18.1, 2)], 1.0),
        ([(9.9, 80), (18.1, 2)], None),
        ([(11, 2)], None),
    ],
)
def test_the_least_window_in_the_log_during_timeouts(
    changes: list[tuple[float, int]], kept: float | None
) -> None:
    found = lost_acks.log_window_kept(with_window(run(LOST_ACKS), *changes))
    assert (found.value if isinstance(found, Figure) else None) == (pytest.approx(kept) if kept else None)


def test_a_window_that_more_than_timeouts_may_lower_is_not_compared() -> None:
    flow = with_window(run(LOST_ACKS), (9.9, 80), (11, 2))
    tcp = replace(flow, trace=replace(flow.trace, protocol="tcp"))
    assert isinstance(lost_acks.log_window_kept(tcp), NoFigure)
    at = int(np.searchsorted(flow.arrivals_ns, 10_000_000_000))
    packets = flow.trace.packets.with_columns(flow.trace.packets["outcome"].scatter(at - 1, "dropped"))
    dropped = replace(flow, trace=replace(flow.trace, packets=packets))
    assert isinstance(lost_acks.log_window_kept(dropped), NoFigure)


def test_findings_say_that_they_come_from_the_log() -> None:
    probes = {one.name: one for one in table.probes()}
    for name, figure, text in (
        ("log-srtt", Figure(1.7, 900), "its log says a smoothed round trip of 1.70 times the packets'"),
        (
            "log-flight",
            Figure(7.0, 900),
            "its log says that 7.0 packets are in flight that its",
        ),
        ("false-losses", Figure(70.0, 90), "its own count has 70 packets lost that the network did not lose"),
        ("timeout-window", Figure(0.1, 9), "its log says that timeouts without a loss leave 0.10 of its"),
    ):
        mine: dict[int, Figure | NoFigure] = {1: figure, 2: figure}
        found = judge.judge(probes[name], LONE, "cubic", False, mine, None)
        assert found.state == "different"
        assert found.text.startswith(text)
        without: dict[int, Figure | NoFigure] = {1: NoFigure("its log has srtt_us in 0 rows; 50 are needed")}
        assert judge.judge(probes[name], LONE, "cubic", False, without, None).state is None
