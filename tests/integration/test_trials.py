"""Contestants, determinism and networks, by real trials."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cambrian.measure.flow_window import TrialWindow
from cambrian.measure.measuring import flow_measures
from cambrian.metrics import fairness
from cambrian.metrics.throughput import throughput
from cambrian.run import prepare
from cambrian.selftest.bench import CONTESTANTS, busy_cores
from cambrian.stacks import catalogue
from cambrian.store.results import Results, TrialResult
from cambrian.study.expand import expand
from cambrian.study.model import Study, Trial
from cambrian.trace import packets
from cambrian.trial import boot, carry_out, validate
from tests.integration.conftest import RunTrials, duel, flow, valid

SECOND = 1_000_000_000
FIRST = [(stack, ccas[0]) for stack, ccas in CONTESTANTS.items()]
OTHERS = [(stack, cca) for stack, ccas in CONTESTANTS.items() for cca in ccas[1:]]


@pytest.mark.parametrize(
    ("contestants", "load"),
    [
        # a load disturbs the programs of a stack, which are the same for each of its controllers
        pytest.param(FIRST, busy_cores, id="under load"),
        pytest.param(OTHERS, nullcontext, id="other controllers", marks=pytest.mark.long),
    ],
)
def test_each_contestant_gives_a_valid_trial_and_the_same_bytes_again(
    run_trials: RunTrials,
    contestants: list[tuple[str, str]],
    load: Callable[[], AbstractContextManager[None]],
) -> None:
    trials = [duel(flow(stack, cca), flow("tcp", "cubic", start_ms=300)) for stack, cca in contestants]
    first = run_trials(trials, "first")
    with load():
        again = {result.id: result for result in run_trials(trials, "again")}
    for (stack, cca), one in zip(contestants, first, strict=True):
        other = again[one.id]
        valid(one)
        assert one.manifest["packets_sha256"] == other.manifest["packets_sha256"], (stack, cca)
        assert one.packets.filter(pl.col("flow") == 0).height > 500, (stack, cca)
        exports = catalogue.load()[stack].manifest.transport_trace != "none"
        assert (one.transport.filter(pl.col("flow") == 0).height > 100) == exports, (stack, cca)


def test_another_seed_gives_other_bytes_where_chance_has_a_say(run_trials: RunTrials) -> None:
    one, other = run_trials([duel(flow("tcp", "cubic"), loss_percent=1, seed=seed) for seed in (1, 2)])
    assert valid(one).manifest["packets_sha256"] != valid(other).manifest["packets_sha256"]


@pytest.mark.parametrize("stack", ["tcp", "quinn", "quic-go"])
def test_two_flows_with_different_ccas_differ_and_are_what_was_asked_for(
    run_trials: RunTrials, stack: str
) -> None:
    line_ups = [("cubic", "cubic"), ("cubic", "reno"), ("reno", "cubic"), ("reno", "reno")]
    found = run_trials([duel(*(flow(stack, cca) for cca in pair)) for pair in line_ups])
    assert len({valid(result).manifest["packets_sha256"] for result in found}) == len(line_ups)
    for pair, result in zip(line_ups, found, strict=True):
        told = [gate["measured"] for gate in result.verdict["gates"] if gate["name"] == "CCA"]
        assert told == list(pair)


@pytest.mark.parametrize("stack", ["tcp", "quinn"])
def test_a_seeds_two_orders_of_a_contestant_against_itself_cancel_exactly(
    run_trials: RunTrials, stack: str
) -> None:
    study = Study.model_validate(
        {
            "name": "placebo",
            "title": "A contestant against itself",
            "design": "pairwise",
            "duration_s": 5,
            "seeds": 1,
            "start_spread_ms": 500,
            "networks": [{"rate_mbps": 20, "rtt_ms": 50, "buffer_bdp": 1, "loss_percent": 0.2}],
            "contestants": [{"stack": stack, "cca": "cubic"}],
        },
    )
    group, *_ = expand(study, reference_of=catalogue.reference_of)
    one, other = (valid(result) for result in run_trials(group.trials))
    assert packets.fingerprint(one.packets) == packets.fingerprint(packets.exchanged(other.packets))
    rates = [throughput(each.packets, 2, 0, 5 * SECOND)["throughput_mbps"].to_list() for each in (one, other)]
    shares = [fairness.shares(of_both)[0] for of_both in rates]
    assert shares[0] != 0.5
    assert sum(shares) / 2 == 0.5
    # the random losses of a position go with it
    assert one.link_counts("forward") == other.link_counts("forward")[::-1]
    assert one.link_counts("forward")[0] != one.link_counts("forward")[1]


def test_two_stacks_exchange_positions_and_keep_their_numbers(run_trials: RunTrials) -> None:
    straight = duel(flow("tcp", "reno"), flow("quinn", "cubic", start_ms=300))
    crossed = straight.model_copy(update={"positions": (1, 0)})
    for result in run_trials([straight, crossed]):
        valid(result)
        said = [gate["measured"] for gate in result.verdict["gates"] if gate["name"] == "CCA"]
        assert said == ["reno", "cubic"]
        assert all(result.packets.filter(pl.col("flow") == 1)["arrival_ns"] > 300_000_000)
        # kernel TCP's own events are its states; a QUIC stack has none of those
        events = {number: set(frame["event"]) for (number,), frame in result.transport.group_by("flow")}
        assert "state" in events[0]
        assert "state" not in events.get(1, set())


def test_a_wrong_cca_is_caught(run_trials: RunTrials) -> None:
    # without ECN on the connection the kernel falls back to reno, and says so when it is asked
    (result,) = run_trials([duel(flow("tcp", "dctcp"))])
    assert not result.verdict["valid"]
    assert any("dctcp" in reason and "CCA" in reason for reason in result.verdict["reasons"])


def test_by_ptrace_it_is_slower_and_the_same(tmp_path: Path) -> None:
    trial = duel(flow("tcp", "cubic"), flow("quinn", "cubic"), seconds=3)
    made = prepare.ensure({"tcp", "quinn"})
    hashes = []
    for seccomp in (True, False):
        results = Results(tmp_path / str(seccomp))
        outcome = carry_out.run(trial, replace(made, seccomp=seccomp), results)
        hashes.append(valid(results.trial(outcome.trial_id)).manifest["packets_sha256"])
    assert hashes[0] == hashes[1]


def test_the_agent_s_python_does_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = sorted(Path("/usr/bin").glob("python3.[0-9]*[0-9]"))
    other = next((path for path in found if path.resolve() != boot.interpreter()), None)
    if other is None:
        pytest.skip("the system has no Python of its own")
    trial = duel(flow("tcp", "bbr"), flow("quinn", "cubic", start_ms=300), seconds=3, loss_percent=0.2)
    made = prepare.ensure({"tcp", "quinn"})
    hashes: list[str] = []
    for python in (boot.interpreter(), other.resolve()):
        monkeypatch.setattr(boot, "interpreter", lambda python=python: python)
        results = Results(tmp_path / python.name / str(len(hashes)))
        outcome = carry_out.run(trial, made, results)
        hashes.append(valid(results.trial(outcome.trial_id)).manifest["packets_sha256"])
    assert hashes[0] == hashes[1]


def test_a_capture_that_overflowed_runs_again_with_a_larger_ring(
    run_trials: RunTrials, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = duel(flow("quinn", "cubic"), flow("tcp", "cubic", start_ms=300), seconds=3, loss_percent=0.2)
    (plain,) = run_trials([trial], "plain")
    real, counts = validate.capture_lost, [12_464]
    monkeypatch.setattr(validate, "capture_lost", lambda programs: counts.pop() if counts else real(programs))
    (again,) = run_trials([trial], "again")
    sizes = []
    for result in (plain, again):
        argv = json.loads((valid(result).folder / "plan.json").read_text())["capture"]["argv"]
        sizes.append(int(argv[argv.index("--ring-kib") + 1]))
    assert sizes[1] == 16 * sizes[0]
    assert plain.manifest["packets_sha256"] == again.manifest["packets_sha256"], "the ring moves no packet"


def test_a_raw_capture_is_kept_on_request_only(run_trials: RunTrials) -> None:
    plain = duel(flow("tcp", "cubic"), seconds=2)
    asked, unasked = run_trials([plain.model_copy(update={"raw_capture": True}), plain])
    captured = (valid(asked).folder / "raw" / "bottleneck.receiver.pcap").read_bytes()
    assert captured[:4] == bytes.fromhex("4d3cb2a1"), "pcap with nanosecond stamps, little endian"
    assert len(captured) > asked.packets.filter(pl.col("outcome") == "departed")["size_bytes"].sum()
    assert not (valid(unasked).folder / "raw").exists()
    assert asked.manifest["packets_sha256"] == unasked.manifest["packets_sha256"], "it moves no packet"


def test_a_setting_of_the_kernel_takes_effect_or_is_refused(run_trials: RunTrials) -> None:
    plain = duel(flow("tcp", "cubic"), flow("tcp", "cubic"), seconds=5)
    gentle, unknown = run_trials(
        [
            plain.model_copy(update={"kernel_settings": {name: 512}})
            for name in ("tcp_cubic.beta", "tcp_cubic.gamma")
        ]
    )
    assert (
        valid(gentle).manifest["packets_sha256"] != valid(run_trials([plain])[0]).manifest["packets_sha256"]
    )
    assert "tcp_cubic.gamma = 512" in unknown.verdict["reasons"][0]


def test_tls_costs_no_validity(run_trials: RunTrials) -> None:
    (result,) = run_trials([duel(flow("tcp", "cubic", tls=True))])
    valid(result)


def test_a_request_and_a_full_initial_window_take_one_round_trip(run_trials: RunTrials) -> None:
    flows = [flow("tcp", "cubic", size_bytes=14_000), flow("tcp", "cubic", size_bytes=8_000, tls=True)]
    for result in run_trials([duel(one, rate_mbps=50, rtt_ms=100) for one in flows]):
        events = {event["event"]: event for event in valid(result).manifest["endpoints"]["flow0.receiver"]}
        assert 100 <= (events["done"]["time_ns"] - events["connected"]["time_ns"]) / 1e6 < 105


def test_a_flow_of_fixed_size_ends_and_is_complete(run_trials: RunTrials) -> None:
    trials = [
        duel(flow(stack, "cubic", size_bytes=2_000_000), seconds=20) for stack in ("tcp", "quinn", "quic-go")
    ]
    for result in run_trials(trials):
        valid(result)
        assert result.manifest["guest"]["end_ns"] < 5 * SECOND
        done = [event for event in result.manifest["endpoints"]["flow0.receiver"] if event["event"] == "done"]
        assert done[0]["bytes"] == 2_000_000
        assert done[0]["complete"]


@pytest.mark.parametrize("queue", ["codel", "fq_codel", "pie", "fq_pie", "red", "cake", "dualpi2"])
def test_an_aqm_marks_with_ecn_and_drops_without(run_trials: RunTrials, queue: str) -> None:
    shape: dict[str, Any] = {"queue": queue, "buffer_bdp": 4}
    flows = [flow("tcp", "cubic"), flow("tcp", "cubic")]
    marking, dropping = run_trials([duel(*flows, seconds=10, ecn=ecn, **shape) for ecn in (True, False)])
    assert valid(marking).packets["ce"].sum() > 0
    assert valid(dropping).packets["ce"].sum() == 0
    assert (dropping.packets["outcome"] == "dropped").sum() > 0


def test_fair_queueing_shares_equally_and_marks_nothing(run_trials: RunTrials) -> None:
    flows = [flow("tcp", "cubic", rtt_ms=20), flow("tcp", "bbr", rtt_ms=100)]
    fair, fifo = run_trials(
        [duel(*flows, seconds=20, buffer_bdp=2, queue=queue) for queue in ("fq", "droptail")]
    )
    shares = []
    for result in (fair, fifo):
        mbps = throughput(valid(result).packets, 2, 5 * SECOND, 20 * SECOND)["throughput_mbps"]
        shares.append(mbps[0] / mbps.sum())
    assert shares[0] == pytest.approx(0.5, abs=0.02)
    assert abs(shares[1] - 0.5) > 0.1
    assert fair.packets["ce"].sum() == 0


def test_acknowledgements_are_lost_on_schedule(run_trials: RunTrials) -> None:
    schedule = [{"at_s": 4, "return_loss_percent": 100}, {"at_s": 8, "return_loss_percent": 0}]
    contestants = [flow("tcp", "cubic"), flow("quinn", "cubic")]
    for result in run_trials([duel(one, seconds=12, schedule=schedule) for one in contestants]):
        valid(result)
        sent = result.packets.filter(pl.col("arrival_ns").is_between(4.2 * SECOND, 8 * SECOND))
        # two to four timeouts of each flow, of one or two packets
        assert 4 <= sent.height <= 16
        after = result.packets.filter(pl.col("arrival_ns") > 10 * SECOND)
        assert after.height > 500


def test_the_rate_changes_on_schedule(run_trials: RunTrials) -> None:
    schedule = [{"at_s": 5, "rate_mbps": 5}, {"at_s": 10, "rate_mbps": 20}]
    (result,) = run_trials([duel(flow("tcp", "cubic"), seconds=15, schedule=schedule)])
    valid(result)
    rates = [
        throughput(result.packets, 1, start * SECOND, (start + 3) * SECOND)["throughput_mbps"][0]
        for start in (2, 7, 12)
    ]
    assert rates[0] == pytest.approx(20, rel=0.05)
    assert rates[1] == pytest.approx(5, rel=0.05)
    assert rates[2] == pytest.approx(20, rel=0.2)


def test_quic_follows_its_receiver_to_another_address_and_tcp_does_not(run_trials: RunTrials) -> None:
    schedule = [{"at_s": 4, "handover_overlap_ms": 500}, {"at_s": 8, "handover_overlap_ms": 500}]
    flows = [flow("quinn", "cubic"), flow("quic-go", "cubic"), flow("tcp", "cubic")]
    found = run_trials([duel(one, seconds=12, schedule=schedule) for one in flows])
    # what was under way when the old address went is half a second's
    seconds = [(5, 8), (9, 12)]
    *quic, tcp = [[_mbps(valid(result), *interval) for interval in seconds] for result in found]
    assert all(mbps > 5 for flow_mbps in quic for mbps in flow_mbps)
    assert all(mbps < 0.1 for mbps in tcp)


def _mbps(result: TrialResult, from_s: float, to_s: float) -> float:
    table = throughput(result.packets, 1, round(from_s * SECOND), round(to_s * SECOND))
    return float(table["throughput_mbps"][0])


def test_loss_jitter_reordering_duplication_strike_where_they_should(run_trials: RunTrials) -> None:
    burst = {"good_to_bad_percent": 0.2, "bad_to_good_percent": 20}
    shapes: list[dict[str, Any]] = [
        {"burst_loss": burst},
        {"jitter_ms": 5},
        {"reorder_percent": 2},
        {"duplicate_percent": 3},
        {"loss_every_packets": 500},
    ]
    bursty, jittery, reordered, doubled, periodic = run_trials(
        [duel(flow("tcp", "bbr"), seconds=8, **one) for one in shapes]
    )
    assert valid(bursty).link_counts("forward")[0].lost > 10
    assert valid(jittery).link_counts("forward")[0].lost == 0
    retransmitted = [
        next(
            event
            for event in valid(result).manifest["endpoints"]["flow0.sender"]
            if event["event"] == "stats"
        )
        for result in (jittery, reordered)
    ]
    assert all(stats["reorderings_seen"] > 0 for stats in retransmitted)
    count = doubled.link_counts("forward")[0]
    arrived = valid(doubled).packets.height
    assert arrived > 1.02 * (count.offered * 0.97)
    offered, lost = valid(periodic).link_counts("forward")[0]
    rows = {row["kind"]: row for row in periodic.manifest["guest"]["counters"]["flows"][0]["forward"]}
    netem = rows["netem"]
    came = netem["sent_packets"] + netem["backlog_packets"] + netem["dropped_packets"]
    # what the kernel counted in front of the loss and behind it
    assert rows["clsact"]["sent_packets"] - came == lost > 10
    trial = Trial.model_validate(periodic.manifest["trial"])
    (row,) = flow_measures(TrialWindow(periodic, trial, (0, 8 * SECOND), [], []))
    assert row["random_loss_percent"] == pytest.approx(100 * lost / offered)


def test_a_trace_is_the_link(run_trials: RunTrials, tmp_path: Path) -> None:
    trace = tmp_path / "steady.trace"
    # one opportunity a millisecond: 1514-byte frames at 12.112 Mbps
    trace.write_text("".join(f"{ms}\n" for ms in range(1, 1001)))
    (result,) = run_trials([duel(flow("tcp", "cubic"), seconds=8, rate_mbps=None, trace_file=str(trace))])
    valid(result)
    rate = throughput(result.packets, 1, 3 * SECOND, 8 * SECOND)["throughput_mbps"][0]
    assert rate == pytest.approx(12.112, rel=0.01)
