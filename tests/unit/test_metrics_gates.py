from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.metrics.gates import (
    FlowFacts,
    Gate,
    Limit,
    TrialFacts,
    buffer_gate,
    capture_gate,
    cca_gate,
    completion_gate,
    endpoint_gate,
    exemptions,
    flow_ends,
    offload_gate,
    rate_gate,
    rtt_gate,
    saturation_gate,
    verdict,
    window_use_gate,
)
from cambrian.metrics.gates import trial_gates as gates_of_ends
from cambrian.metrics.gates.capture import captured_gate
from cambrian.metrics.gates.link import loss_gate
from cambrian.study.model import BurstLoss, Change, Network
from tests.unit.metrics_frames import bottleneck, frame, steady

MS = 1_000_000
S = 1_000_000_000
BYTE_NS = 400  # 20 Mbps
BURST = 1600
LIMIT = 30_000


def busy_link() -> pl.DataFrame:
    """10 s of two flows that together offer more than 20 Mbps."""
    offered = sorted(
        [(0, i * 700_000, 1514) for i in range(14_200)] + [(1, i * 900_000, 1250) for i in range(11_100)],
        key=lambda packet: packet[1],
    )
    return bottleneck(offered, BYTE_NS, LIMIT, BURST)


@pytest.fixture(scope="module", name="packets")
def _packets() -> pl.DataFrame:
    return busy_link()


def healthy() -> TrialFacts:
    flow = FlowFacts(
        "quinn cubic", "cubic", rtt_ms=50, confirmed_cca="CUBIC", base_rtt_ms=50.0005, exit_status=0
    )
    other = dataclasses.replace(flow, label="tcp reno", cca="reno", confirmed_cca="reno")
    return TrialFacts(
        duration_ns=10 * S,
        limit=Limit(LIMIT),
        burst_bytes=BURST,
        warmup_ns=2 * S,
        capture_lost=0,
        flows=(flow, other),
    )


NETWORK = Network(rate_mbps=20, rtt_ms=50, buffer_bytes=LIMIT)


def trial_gates(
    packets: pl.DataFrame, network: Network, facts: TrialFacts, transport: pl.DataFrame | None = None
) -> list[Gate]:
    """All gates, of flows that ended as their packets say."""
    ends = flow_ends(packets, network, facts, transport)
    return gates_of_ends(packets, network, facts, ends, transport)


def failed(gates: list[Gate]) -> list[str]:
    return [gate.name for gate in gates if gate.ok is False]


def test_a_healthy_trial_is_valid(packets: pl.DataFrame) -> None:
    gates = trial_gates(packets, NETWORK, healthy())
    result = verdict(gates)
    assert result.valid, result.reasons
    assert result.notes == []
    assert {gate.name for gate in gates} == {
        "rate",
        "buffer",
        "saturation",
        "capture",
        "offload",
        "base RTT",
        "premature end",
        "CCA",
        "endpoint",
    }


def test_a_swapped_controller_is_caught(packets: pl.DataFrame) -> None:
    facts = healthy()
    one, two = facts.flows
    swapped = (
        dataclasses.replace(one, confirmed_cca=two.confirmed_cca),
        dataclasses.replace(two, confirmed_cca=one.confirmed_cca),
    )
    gates = trial_gates(packets, NETWORK, dataclasses.replace(facts, flows=swapped))
    assert failed(gates) == ["CCA", "CCA"]


def test_a_dead_flow_is_named(packets: pl.DataFrame) -> None:
    only_one = packets.filter((pl.col("flow") == 0) | (pl.col("arrival_ns") < 5 * S))
    reasons = verdict(trial_gates(only_one, NETWORK, healthy())).reasons
    assert any("tcp reno sent its last packet" in reason for reason in reasons)
    assert not any("quinn" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"limit": Limit(LIMIT - 1514)}, "buffer"),
        ({"limit": Limit(LIMIT + 1514)}, "buffer"),
        ({"capture_lost": 1}, "capture"),
    ],
)
def test_one_thing_wrong_fails_one_gate(packets: pl.DataFrame, change: dict[str, object], name: str) -> None:
    facts = dataclasses.replace(healthy(), **change)  # type: ignore[arg-type]
    assert failed(trial_gates(packets, NETWORK, facts)) == [name]


def test_rate_gate(packets: pl.DataFrame) -> None:
    assert rate_gate(packets, 20, BURST, tolerance_percent=0.001).ok is True
    wrong = rate_gate(packets, 20.5, BURST)
    assert wrong.ok is False
    assert wrong.measured == pytest.approx(20.0)
    assert rate_gate(frame([]), 20, BURST).ok is None


@pytest.mark.parametrize(("ticks", "ok"), [(54, True), (55, True), (56, True), (50, False), (60, False)])
def test_one_small_packet_shows_a_rate_within_two_ticks_of_the_clock(ticks: int, ok: bool) -> None:
    # 176 bytes at 100 Mbps take 55 ticks of 256 ns; the large packet before them empties the bucket
    last_ns = 1_000_000 + 256 * ticks
    rows = [(0, 999_000, 1_000_000, 1514, "departed"), (0, 999_500, last_ns, 176, "departed")]
    gate = rate_gate(frame(rows), 100, 1514)
    assert gate.ok is ok
    assert "busy for only" in gate.text


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3_000), st.integers(60, 1514)), min_size=1, max_size=80
    ),
    st.integers(1514, 6000),
)
def test_buffer_gate_accepts_every_real_drop_tail_queue(
    offered: list[tuple[int, int, int]], limit: int
) -> None:
    packets = bottleneck(sorted(offered, key=lambda p: p[1]), 1, limit, 1514)
    assert buffer_gate(packets, Limit(limit), slack_ns=0).ok is True


def test_buffer_gate_counts_packets_too() -> None:
    rows = [(0, i, 9_000 + i, 100, "departed") for i in range(5)] + [(0, 9, None, 1, "dropped")]
    assert buffer_gate(frame(rows), Limit(5, "packets")).ok is True
    assert buffer_gate(frame(rows), Limit(6, "packets")).ok is False
    assert buffer_gate(frame(rows), Limit(4, "packets")).ok is False
    assert buffer_gate(frame(rows), Limit(500)).measured == 500


def test_buffer_gate_leaves_out_the_packet_in_transit_of_a_trace_driven_link() -> None:
    """900 bytes partly sent, 1000 waiting in a queue of 1500: 400 more fit, a second 900 do not."""
    rows = [
        (0, 0, 9000, 900, "departed"),
        (0, 100, 19_000, 1000, "departed"),
        (0, 200, 23_000, 400, "departed"),
        (0, 300, None, 900, "dropped"),
    ]
    assert buffer_gate(frame(rows), Limit(1500), slack_ns=0).ok is False
    assert buffer_gate(frame(rows), Limit(1500, one_in_transit=True), slack_ns=0).ok is True
    too_many = [*rows[:3], (0, 300, 32_000, 900, "departed")]
    assert buffer_gate(frame(too_many), Limit(1500, one_in_transit=True), slack_ns=0).ok is False


def test_buffer_gate_takes_nobody_for_accepted_that_never_departed() -> None:
    """Dropped in the trial's last moment: nothing departs later to show it."""
    rows = [(0, 0, 9000, 1000, "departed"), (0, 100, None, 1000, "queued"), (0, 200, None, 1000, "queued")]
    assert buffer_gate(frame(rows), Limit(1500), slack_ns=0).ok is True


def test_buffer_gate_gives_simultaneous_events_the_benefit_of_the_doubt() -> None:
    rows = [
        (0, 0, 2000, 1000, "departed"),
        (0, 1500, None, 1000, "dropped"),
        (0, 2500, None, 1000, "dropped"),
    ]
    strict = buffer_gate(frame(rows), Limit(1500), slack_ns=0)
    assert (strict.ok, strict.text.count("1 packet(s) dropped although they fitted")) == (False, 1)
    assert buffer_gate(frame(rows), Limit(1500), slack_ns=500).ok is True


def test_rtt_gate() -> None:
    assert rtt_gate(50.0004, 50, tolerance_ms=0.001).ok is True
    assert rtt_gate(50.5, 50, tolerance_ms=0.1).ok is False
    assert rtt_gate(49.5, 50, tolerance_ms=0.1).ok is False
    assert rtt_gate(None, 50, tolerance_ms=0.1).ok is None


def test_saturation_tells_a_limit_from_a_controller() -> None:
    slow = steady(0, 1000, MS, size=1000)  # 8 Mbps
    assert saturation_gate(frame(slow), 8, 0, S).ok is True
    idle = saturation_gate(frame(slow), 20, 0, S)
    assert idle.ok is False
    assert idle.measured == pytest.approx(0.4)
    assert "the application, a send or receive window, or the controller" in idle.text
    dropped = [*slow, (0, 999 * MS, None, 1000, "dropped")]
    assert saturation_gate(frame(dropped), 20, 0, S).ok is None
    marked = frame(slow, ce=[False] * 999 + [True])
    assert saturation_gate(marked, 20, 0, S).ok is None


def test_a_sender_that_grows_back_after_earlier_drops_is_not_limited() -> None:
    """Reno on a large path: its drops are at the end of slow start, and it needs minutes to come back."""
    slow, fast = steady(0, 250, 2 * MS), steady(0, 400, S // 800, first_ns=S // 2)
    early = (0, -5 * MS, None, 1000, "dropped")
    assert saturation_gate(frame([early, *slow, *fast]), 20, 0, S).ok is None
    assert saturation_gate(frame([*slow, *fast]), 20, 0, S).ok is False
    # drops at the start excuse nobody whose rate stays the same
    limited = saturation_gate(frame([early, *steady(0, 1000, MS)]), 20, 0, S)
    assert limited.ok is False
    assert "no packet was dropped or marked after the warm-up" in limited.text


def test_cca_gate() -> None:
    assert cca_gate("a", "cubic", "Cubic").ok is True
    assert cca_gate("a", "cubic", "reno").ok is False
    unknown = cca_gate("a", "cubic", None)
    assert unknown.ok is None
    assert "not confirmed" in unknown.text


def test_endpoint_gate() -> None:
    assert endpoint_gate("a", 0).ok is True
    assert endpoint_gate("a", 1, error="no route").ok is False
    assert endpoint_gate("a", 0, error="stream reset").ok is False
    assert "does not support" in endpoint_gate("a", 127).text
    assert endpoint_gate("a", None).ok is None


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (3, "ended with status 3"),
        (-11, "was killed by SIGSEGV"),
        (-9, "was killed by SIGKILL, perhaps because memory ran out"),
        (-99, "was killed by signal 99"),
    ],
)
def test_a_signal_that_ended_a_program_has_its_name(status: int, words: str) -> None:
    gate = endpoint_gate("flow 0", status)
    assert (gate.ok, gate.text) == (False, f"endpoint: flow 0 {words}")


def test_a_receiver_that_says_it_has_more_than_came_through_is_not_believed() -> None:
    rows = steady(0, 1000, MS, size=1000)
    received = frame([*rows, (0, 2 * S, None, 1000, "dropped")])
    asked_bytes = 900_000
    last_ns = rows[899][2] or 0  # the packet that brings the last byte
    true = completion_gate("a", received, asked_bytes, last_ns)
    assert (true.ok, true.measured) == (True, asked_bytes)
    for early_ns in (last_ns - 1, 0, -5 * S):
        assert completion_gate("a", received, asked_bytes, early_ns).ok is False
    assert completion_gate("a", received, 1_000_001, 10 * S).ok is False
    lie = completion_gate("flow 0 (a)", received, asked_bytes, -S)
    assert lie.text == (
        "completion: the receiver of flow 0 (a) said at -1.000 s that it has all 900,000 bytes; "
        "packets of 0 bytes had left the bottleneck by then"
    )
    assert completion_gate("a", received, asked_bytes, None).ok is None


def test_capture_and_offload() -> None:
    assert [capture_gate(n).ok for n in (0, 3, None)] == [True, False, False]
    assert offload_gate(frame(steady(0, 3, MS, size=1514))).ok is True
    big = offload_gate(frame(steady(0, 3, MS, size=1515)))
    assert (big.ok, big.measured) == (False, 1515)
    assert offload_gate(frame([])).ok is True


def test_window_use_only_suspects() -> None:
    def transport(in_flight: int | None) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "flow": [0] * 10,
                "time_ns": range(10),
                "cwnd_bytes": [100_000] * 10,
                "in_flight_bytes": [in_flight] * 10,
            },
            schema={
                "flow": pl.UInt16,
                "time_ns": pl.Int64,
                "cwnd_bytes": pl.UInt32,
                "in_flight_bytes": pl.UInt32,
            },
        )

    assert window_use_gate("a", transport(99_000), 0, 10).ok is True
    suspect = window_use_gate("a", transport(10_000), 0, 10)
    assert (suspect.ok, suspect.measured) == (None, 1.0)
    assert window_use_gate("a", transport(None), 0, 10).ok is None


def test_transport_samples_are_judged_per_flow(packets: pl.DataFrame) -> None:
    transport = pl.DataFrame(
        {
            "flow": [0, 1] * 10,
            "time_ns": [5 * S] * 20,
            "event": ["sample"] * 20,
            "cwnd_bytes": [100_000] * 20,
            "in_flight_bytes": [99_000, 1_000] * 10,
        }
    )
    gates = trial_gates(packets, NETWORK, healthy(), transport)
    use = [gate for gate in gates if gate.name == "window use"]
    assert [(gate.ok, gate.measured) for gate in use] == [(True, 0.0), (None, 1.0)]
    assert "tcp reno" in use[1].text


@pytest.mark.parametrize(
    ("changes", "skipped"),
    [
        ({"schedule": (Change(at_s=1, rate_mbps=5),)}, {"rate", "saturation"}),
        ({"schedule": (Change(at_s=1, rtt_ms=5),)}, {"base RTT"}),
        ({"schedule": (Change(at_s=1, loss_percent=5),)}, {"saturation"}),
        ({"schedule": (Change(at_s=1, return_loss_percent=5),)}, {"saturation"}),
        ({"schedule": (Change(at_s=1, handover_overlap_ms=0),)}, {"saturation"}),
        ({"jitter_ms": 1.0}, {"base RTT", "saturation"}),
        ({"reorder_percent": 1.0}, {"base RTT", "saturation"}),
        ({"queue": "fq_codel"}, {"buffer"}),
        ({"duplicate_percent": 1.0}, {"buffer"}),
        ({"loss_percent": 1.0}, {"saturation"}),
        ({"burst_loss": BurstLoss(good_to_bad_percent=1, bad_to_good_percent=10)}, {"saturation"}),
        ({"rate_mbps": None, "trace_file": "x.up"}, {"base RTT", "rate", "saturation"}),
        ({"loss_every_packets": 100}, {"saturation"}),
    ],
)
def test_gates_that_do_not_apply_say_so(
    packets: pl.DataFrame, changes: dict[str, object], skipped: set[str]
) -> None:
    network = Network(**{"rate_mbps": 20, "rtt_ms": 50, "buffer_bytes": LIMIT, **changes})
    assert set(exemptions(network)) == skipped
    notes = verdict(trial_gates(packets, network, healthy())).notes
    assert {note.split(":")[0] for note in notes} == skipped
    assert all("not checked" in note for note in notes)


def test_slow_receivers_need_not_saturate(packets: pl.DataFrame) -> None:
    facts = healthy()
    slow = (dataclasses.replace(facts.flows[0], slow_receiver=True), *facts.flows[1:])
    gates = trial_gates(packets, NETWORK, dataclasses.replace(facts, flows=slow))
    assert [gate.text for gate in gates if gate.name == "saturation" and gate.ok is None] == [
        "saturation: not checked, a slow receiver may hold its sender back"
    ]


def test_a_controller_that_leaves_room_need_not_saturate(packets: pl.DataFrame) -> None:
    facts = healthy()
    known = tuple(dataclasses.replace(flow, leaves_room="it backs off early") for flow in facts.flows)
    for flows, applies in ((known, False), ((*known, dataclasses.replace(known[0], leaves_room="")), True)):
        gates = trial_gates(packets, NETWORK, dataclasses.replace(facts, flows=flows))[:6]
        (gate,) = [gate for gate in gates if gate.name == "saturation"]
        assert ("leaves a part of the link: it backs off early" not in gate.text) == applies


def test_flows_of_fixed_size_need_not_saturate(packets: pl.DataFrame) -> None:
    facts = healthy()
    sized = tuple(dataclasses.replace(flow, size_bytes=10, complete_ns=S) for flow in facts.flows)
    gates = trial_gates(packets, NETWORK, dataclasses.replace(facts, flows=sized))
    assert [gate.ok for gate in gates if gate.name == "saturation"] == [None]
    assert [gate.ok for gate in gates if gate.name == "completion"] == [True] * len(sized)
    # each flow is held against its own packets
    one = [sized[0], *(dataclasses.replace(flow, complete_ns=-1) for flow in sized[1:])]
    gates = trial_gates(packets, NETWORK, dataclasses.replace(facts, flows=tuple(one)))
    said = [gate.ok for gate in gates if gate.name == "completion"]
    assert said == [True] + [False] * (len(sized) - 1)


def test_a_link_loses_what_is_configured() -> None:
    assert loss_gate("x", 10_000, 0, 0.0).ok is True
    assert loss_gate("x", 10_000, 1, 0.0).ok is False
    assert loss_gate("x", 10_000, 100, 1.0).ok is True
    # three percent where one is configured
    assert loss_gate("x", 10_000, 300, 1.0).ok is False
    assert loss_gate("x", 10_000, 0, 1.0).ok is False
    assert loss_gate("x", 0, 0, 1.0).ok is True


def test_a_random_loss_is_rarely_called_wrong() -> None:
    rng = np.random.default_rng(7)
    for percent in (0.01, 0.1, 1.0, 5.0, 40.0):
        lost = rng.binomial(20_000, percent / 100, size=20_000)
        assert all(loss_gate("x", 20_000, int(count), percent).ok for count in np.unique(lost))


def test_the_capture_has_every_packet_that_the_kernel_counted() -> None:
    assert captured_gate("x", 10_000, 10_002).ok is True
    assert captured_gate("x", 9_300, 10_000).ok is False
    # in another's name
    assert captured_gate("x", 10_700, 10_000).ok is False
    assert captured_gate("x", 0, 2).ok is True
    # in real time the flow goes on while the count is read
    assert captured_gate("x", 10_000, 10_500, late_packets=500).ok is True
    assert captured_gate("x", 9_300, 10_500, late_packets=500).ok is False
    assert captured_gate("x", 10_500, 10_000, late_packets=500).ok is False
