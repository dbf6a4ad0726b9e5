"""Nobody is accused of what the application, the receiver or a buffer decides."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from cambrian.report import limits
from cambrian.report.collect import Collected
from cambrian.report.tables import harm
from cambrian.report.tables.rows import Row
from cambrian.study.model import Contestant, Cpu, Network
from tests.unit.report import made


class _Made(SimpleNamespace):
    """As much of a :class:`Collected` as these tests need."""

    alone = Collected.alone


def collected(
    *percent: float | None, reference: str = "reno", receiver: str = "own", reasons: tuple[str, ...] = ()
) -> Collected:
    """A contestant's trials alone, each with this percentage of the time with an unused window.

    ``reasons``: why a further trial is invalid.
    """
    one = Contestant(stack="quinn", cca="reno", receiver=receiver)
    flows = [[{"window_unused_percent": value}] for value in percent]
    endless = SimpleNamespace(flows=[SimpleNamespace(size_bytes=0)])
    trials = [SimpleNamespace(flows=one, utilisation=0.87, trial=endless) for one in flows]
    records = [SimpleNamespace(reasons=reasons)]
    network = Network(name="net", rate_mbps=20, rtt_ms=50, buffer_bdp=1)
    cell = SimpleNamespace(network=network, page=None, names=(one.name,), trials=trials, records=records)
    families = {one.name: SimpleNamespace(reference=reference, protocol="quic")}
    study = SimpleNamespace(contestants=[one], every_flow=[])
    return cast("Collected", _Made(cells=[cell], families=families, study=study))


def _on(of: Collected, *networks: Network) -> Collected:
    """The same group on each of these networks."""
    cells = [SimpleNamespace(**(vars(of.cells[0]) | {"network": one})) for one in networks]
    return cast("Collected", _Made(**(vars(of) | {"cells": cells})))


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    value: Any = SimpleNamespace(value=lambda trial, flow: trial.flows[flow]["window_unused_percent"])
    monkeypatch.setattr(limits, "_UNUSED", value)
    time: Any = SimpleNamespace(value=lambda trial, flow: trial.flows[flow]["completion_s"])
    monkeypatch.setattr(limits, "_COMPLETION", time)
    monkeypatch.setattr(limits, "_PEAK", SimpleNamespace(value=lambda trial, flow: None))
    monkeypatch.setattr(limits, "_GROWTH", SimpleNamespace(value=lambda trial, flow: None))
    back: Any = SimpleNamespace(value=lambda trial, flow: trial.flows[flow].get("back_percent"))
    monkeypatch.setattr(limits, "_BACK", back)
    opens: Any = SimpleNamespace(value=lambda trial, flow: trial.flows[flow].get("tcp_connections"))
    monkeypatch.setattr(limits, "_CONNECTIONS", opens)


def test_an_unused_window_in_one_trial_is_a_limit() -> None:
    why = limits.limited(collected(12, 63), "quinn reno", "net")
    assert "up to 63 % of the time" in why
    # the log may count too little in flight: packets can show more
    assert "by its log less than 80 %" in why


@pytest.mark.parametrize(
    ("found", "contestant", "network"),
    [
        (collected(12, 24), "quinn reno", "net"),
        (collected(None), "quinn reno", "net"),
        (collected(63), "quinn reno", "elsewhere"),
        (collected(63), "quinn cubic", "net"),
        (collected(63, reference="bbr"), "quinn reno", "net"),
    ],
)
def test_no_limit_without_a_sign_of_it(found: Collected, contestant: str, network: str) -> None:
    assert not limits.limited(found, contestant, network)


def test_a_flow_of_fixed_size_tells_only_without_an_endless_one() -> None:
    """Its last round trips leave the window unused, and the request's: much of a short flow."""
    found = collected(12, 63)
    short = found.cells[0].trials[1]
    cast("Any", short).trial = _sized()
    cast("Any", short).flows[0]["completion_s"] = 1.0
    assert not limits.limited(found, "quinn reno", "net")
    cast("Any", found.cells[0]).trials.pop(0)
    assert "up to 63 % of the time" in limits.limited(found, "quinn reno", "net")


@pytest.mark.parametrize(("percent", "wrong_way"), [(4600.0, True), (2.4, False), (None, False)])
@pytest.mark.parametrize("reference", ["reno", "bbr"])
def test_data_from_client_to_server_shows_no_controller(
    percent: float | None, wrong_way: bool, reference: str
) -> None:
    found = collected(12, 12, reference=reference)
    cast("Any", found.cells[0].trials[1]).flows[0]["back_percent"] = percent
    why = limits.limited(found, "quinn reno", "net")
    assert ("its client sent more bytes" in why) is wrong_way


@pytest.mark.parametrize(
    ("connections", "protocol", "several"),
    [
        (4, "tcp", True),
        # a control connection beside the one of data, as iperf3 has it
        (2, "tcp", False),
        # a proxy's connections to its own backend are not the flow's
        (4, "quic", False),
        (None, "tcp", False),
    ],
)
@pytest.mark.parametrize("reference", ["reno", "bbr"])
def test_several_tcp_connections_show_no_controller(
    connections: int | None, protocol: str, several: bool, reference: str
) -> None:
    found = collected(12, 12, reference=reference)
    cast("Any", found.families["quinn reno"]).protocol = protocol
    cast("Any", found.cells[0].trials[1]).flows[0]["tcp_connections"] = connections
    why = limits.limited(found, "quinn reno", "net")
    assert ("up to 4 TCP connections" in why) is several


def _sized() -> Any:
    return SimpleNamespace(
        flows=[SimpleNamespace(size_bytes=30_000, base_rtt_ms=lambda network: network.rtt_ms)]
    )


@pytest.mark.parametrize(("completion_s", "tells"), [(0.95, False), (1.05, True), (None, True)])
def test_a_flow_of_few_round_trips_tells_nothing(completion_s: float | None, tells: bool) -> None:
    """Its handshake and its last round trip are much of it: 26 % of kernel CUBIC's for 1 MB."""
    found = collected(26, 27)
    for trial in found.cells[0].trials:
        cast("Any", trial).trial = _sized()
        cast("Any", trial).flows[0]["completion_s"] = completion_s
    assert bool(limits.limited(found, "quinn reno", "net")) is tells


def test_without_a_log_a_link_left_unused_shows_a_limit_on_all_networks() -> None:
    """As a stack without a log whose application sends in bursts: its flight is not its window."""
    reasons = ("saturation: 32.0% of the bottleneck used after the warm-up",)
    silent = collected(None, reasons=reasons)
    assert "on net it left a part of the link unused" in limits.limited(silent, "quinn reno", "net")
    assert "on net it left a part of the link unused" in limits.limited(silent, "quinn reno", "elsewhere")
    # a log tells, and a trial that is invalid for another reason does not
    assert not limits.limited(collected(12, reasons=reasons), "quinn reno", "net")
    assert not limits.limited(collected(None, reasons=("endpoint: x",)), "quinn reno", "net")
    # a server that ended early left the link unused, too
    ended = ("endpoint: flow0.sender ended with status 1", *reasons)
    assert not limits.limited(collected(None, reasons=ended), "quinn reno", "net")


def test_without_a_log_networks_of_probes_alone_accuse_nobody() -> None:
    """As kernel TCP behind iperf3 with a window or a rate: losses hide that it fills no link."""
    silent, plain = collected(None), Network(name="net", rate_mbps=20, rtt_ms=50, buffer_bdp=1)
    probes = plain.model_copy(update={"name": "probe-lone-losses", "loss_every_packets": 1500})
    # no gate judges what a flow carries on a link that loses packets
    lossy = plain.model_copy(update={"name": "lossy", "loss_percent": 1.0})
    for networks in ([probes], [probes, lossy]):
        found = _on(silent, *networks)
        assert "it ran on no network that shows whether" in limits.limited(found, "quinn reno", probes.name)
    assert not limits.limited(_on(silent, probes, plain), "quinn reno", probes.name)
    assert not limits.limited(_on(collected(12), probes), "quinn reno", probes.name)
    # beside other flows it is judged as though its controller decided
    beside = _on(silent, probes)
    cast("Any", beside.cells[0]).names = ("quinn reno", "tcp reno")
    assert not limits.limited(beside, "quinn reno", probes.name)


@pytest.mark.parametrize(
    ("percent", "growths", "is_limited"),
    [
        (None, (0.9, 0.0), True),
        (None, (0.9, -0.2), True),
        (None, (0.45, 0.41), False),
        (None, (None, 0.5), False),
        # a log tells
        (12, (0.0, 0.0), False),
    ],
)
def test_without_a_log_a_flight_that_does_not_grow_beside_others_shows_a_limit(
    percent: float | None,
    growths: tuple[float | None, ...],
    is_limited: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As kernel TCP behind iperf3 with a window of 30 kB, beside a flow that fills the link."""
    found = collected(*[percent for _ in growths])
    cell = cast("Any", found.cells[0])
    cell.names = ("quinn reno", "tcp reno")
    for trial, growth in zip(cell.trials, growths, strict=True):
        trial.flows = [{"window_unused_percent": percent, "growth": growth}, {}]
    value: Any = SimpleNamespace(value=lambda trial, flow: trial.flows[flow]["growth"])
    monkeypatch.setattr(limits, "_GROWTH", value)
    why = limits.limited(found, "quinn reno", "net")
    assert bool(why) is is_limited
    assert not is_limited or "its flight grows by as little as 0.0 packets a round trip" in why
    # another network, and one on which it also ran alone, where a window that grows too slowly is judged
    assert not limits.limited(found, "quinn reno", "elsewhere")
    cell.names = ("quinn reno",)
    assert not limits.limited(found, "quinn reno", "net")


@pytest.mark.parametrize(
    ("peaks", "used", "is_limited"),
    [
        ((101, 104), 0.87, True),
        ((101, 126), 0.87, False),
        ((101, 126, 104), 0.87, True),
        ((None, None), 0.87, False),
        # nobody can probe on a full link, and a trace has no rate that could be full
        ((101, 104), 0.96, False),
        ((101, 104), None, False),
        ((), 0.87, False),
    ],
)
def test_a_bbr_whose_rate_never_rises_below_the_links_is_limited(
    peaks: tuple[float | None, ...], used: float | None, is_limited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the lab's own BBR behind a pacing rate of 17 Mbps: "pacing rate when cruising is 0.874"."""
    found = collected(None, reference="bbr")
    one = vars(found.cells[0].trials[0])
    trials = [SimpleNamespace(**one | {"peak": peak, "utilisation": used}) for peak in peaks]
    cast("Any", found.cells[0]).trials = trials
    time: Any = SimpleNamespace(value=lambda trial, flow: trial.flows[flow]["completion_s"])
    monkeypatch.setattr(limits, "_COMPLETION", time)
    monkeypatch.setattr(limits, "_PEAK", SimpleNamespace(value=lambda trial, _: trial.peak))
    assert ("its rate never rises" in limits.limited(found, "quinn reno", "net")) == is_limited


@pytest.mark.parametrize(
    ("receiver", "cpu", "is_withheld"),
    [
        ("own", None, False),
        ("reference", None, False),
        ("ngtcp2", None, True),
        ("own", Cpu(per_packet_us=500), True),
    ],
)
def test_another_receiver_withholds_what_it_may_cause(
    receiver: str, cpu: Cpu | None, is_withheld: bool
) -> None:
    """As a phone, behind which quinn's CUBIC has 22 of 100 Mbps: "behaves differently"."""
    found = collected(0, receiver=receiver)
    one = found.study.contestants[0].model_copy(update={"receiver_cpu": cpu})
    cast("Any", found.study).contestants = [one]
    name = one.name
    assert bool(limits.withheld(found, name, "net")) == is_withheld
    rows: list[Row] = [
        {"by": name, "network": "net", "verdict": verdict, "more_seeds": more, "settles_as": later}
        for verdict, more, later in (
            ("less", None, None),
            ("more", None, None),
            ("equivalent", None, None),
            ("inconclusive", 4, "less"),
            ("inconclusive", 4, "more"),
        )
    ]
    limits.withhold(rows, found, "by", ("less",), more=("more",))
    accused = ["inconclusive"] * 2 if is_withheld else ["less", "more"]
    assert [row["verdict"] for row in rows] == [*accused, "equivalent", "inconclusive", "inconclusive"]
    # more seeds would lead to a verdict that is withheld, too
    assert [row["more_seeds"] for row in rows[3:]] == [None if is_withheld else 4] * 2
    assert not limits.limited(found, name, "net")


def test_a_limit_that_is_no_receiver_explains_less_and_never_more() -> None:
    found = collected(63)
    rows: list[Row] = [
        {"by": "quinn reno", "network": "net", "verdict": verdict} for verdict in ("less", "more")
    ]
    limits.withhold(rows, found, "by", ("less",), more=("more",))
    assert [row["verdict"] for row in rows] == ["inconclusive", "more"]


@pytest.mark.parametrize(("receiver", "mbps"), [("own", 14), ("ngtcp2", 14), ("ngtcp2", 6)])
def test_another_receiver_is_not_accused_of_harm(receiver: str, mbps: float) -> None:
    """As "quinn cubic to ngtcp2", which took 14 of 20 Mbps: "more than its own kind"."""
    one = Contestant(stack="quinn", cca="cubic", receiver=receiver)
    shares = {"tcp cubic": 10.0, one.name: mbps}
    cells = [
        made.cell(
            "versus-reference",
            [name, "tcp cubic"],
            [made.trial(seed, [share + seed / 50, 20 - share - seed / 50]) for seed in range(8)],
        )
        for name, share in shares.items()
    ]
    rows = harm.table(made.collected("versus-reference", cells, [one]))
    assert rows is not None
    (verdict,) = rows.filter(pl.col("by") == one.name, pl.col("service").str.starts_with("through"))[
        "verdict"
    ]
    assert verdict == (harm.MORE if receiver == "own" else "inconclusive")
