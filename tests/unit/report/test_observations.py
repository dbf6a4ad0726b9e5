"""Observations: what a row says of its flow, from trials whose figures are known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cambrian.measure import quantities
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.envelope import Envelope, from_points
from cambrian.metrics.pageload import PageLoad
from cambrian.metrics.states.machine import Machine
from cambrian.report.collect import Cell, collect
from cambrian.report.observations import observations
from cambrian.store.results import Results
from cambrian.study.model import BurstLoss, Contestant, Cpu, Flow, Network, Page, PageObjects
from tests.unit import report_results
from tests.unit.report.made import NETWORK, cell, collected, trial

S = 1_000_000_000


def rows(*cells: Cell) -> list[dict[str, Any]]:
    return observations(collected(cells[0].design, cells)).to_dicts()


def of_flow(one: TrialMeasures, number: int, flow: Flow, **measured: Any) -> TrialMeasures:
    """The trial with another flow in its place, and other figures of it."""
    flows, figures = list(one.trial.flows), list(one.flows)
    flows[number] = flow
    figures[number] = replace(figures[number], figures={**figures[number].figures, **measured})
    spec = one.trial.model_copy(update={"flows": tuple(flows)})
    return replace(one, trial=spec, flows=tuple(figures))


def quic(**more: Any) -> Flow:
    return Flow(contestant=Contestant(stack="quinn", cca="cubic", **more))


def test_one_row_a_flow_of_each_trial() -> None:
    trials = [trial(1, [15, 5]), trial(2, [12, 8])]
    found = rows(cell("pairwise", ["a", "b"], trials))
    assert [(row["seed"], row["flow"], row["throughput_mbps"]) for row in found] == [
        (1, 0, 15),
        (1, 1, 5),
        (2, 0, 12),
        (2, 1, 8),
    ]
    first = found[0]
    assert (first["contestant"], first["against"], first["flows"]) == ("a", "b", 2)
    assert (first["subject"], first["reference"], first["lineup"]) == ("a", "b", None)
    assert (first["stack_version"], first["kernel_version"]) == ("1.0", "7.3.4")
    assert first["share_percent"] == pytest.approx(75)
    assert first["jain"] == pytest.approx(20**2 / (2 * (15**2 + 5**2)))
    assert first["utilisation_percent"] == pytest.approx(100)


def test_the_network_as_the_study_says_it() -> None:
    network = Network(
        name="bad",
        rate_mbps=10,
        rtt_ms=40,
        forward_delay_percent=100,
        buffer_packets=30,
        burst_loss=BurstLoss(good_to_bad_percent=1, bad_to_good_percent=50),
        jitter_ms=3,
        queue="codel",
    )
    row = rows(cell("solo", ["a"], [trial(1, [5], network=network)], network=network))[0]
    assert (row["network"], row["rate_mbps"], row["rtt_ms"], row["jitter_ms"]) == ("bad", 10, 40, 3)
    assert (row["forward_delay_percent"], row["queue"]) == (100, "codel")
    assert (row["burst_loss"], row["trace"], row["loss_percent"]) == (True, False, 0)
    # as written there is none; as built it is what the trial's manifest says
    assert (row["buffer_bdp"], row["buffer_bytes"]) == (None, 125_000)


def test_who_a_flow_is() -> None:
    flow = quic(options={"initial_window": 32, "pacing": True}, receiver_cpu=Cpu(per_packet_us=30))
    row = rows(cell("solo", ["mine"], [of_flow(trial(1, [5]), 0, flow)]))[0]
    assert (row["contestant"], row["stack"], row["cca"], row["protocol"]) == (
        "mine",
        "quinn",
        "cubic",
        "quic",
    )
    assert (row["option.initial_window"], row["option.pacing"]) == (32, True)
    assert (row["cpu_per_packet_us"], row["cpu_per_syscall_us"]) == (30, 0)
    assert row["flow_rtt_ms"] == NETWORK.rtt_ms


def test_options_keep_their_kind_where_they_have_one() -> None:
    options: list[dict[str, Any]] = [{"a": 1, "b": "x", "c": True}, {"a": 2.5, "b": 3}, {}]
    cells = [
        cell("solo", [str(number)], [of_flow(trial(1, [5]), 0, quic(options=some))])
        for number, some in enumerate(options)
    ]
    frame = observations(collected("solo", cells))
    assert frame["option.a"].to_list() == [1, 2.5, None]
    assert frame["option.b"].to_list() == ["x", "3", None]
    assert frame["option.c"].to_list() == [True, None, None]
    assert frame.schema["option.c"] == pl.Boolean


def test_a_download_has_two_speeds() -> None:
    """1,000,000 bytes: 8 Mbps over the second at the bottleneck, 4 Mbps with the waiting before it."""
    flow = quic().model_copy(update={"size_bytes": 1_000_000})
    row = rows(cell("solo", ["a"], [of_flow(trial(1, [8]), 0, flow, completion_s=1.0, fetch_s=2.0)]))[0]
    assert (row["size_bytes"], row["download_mbps"], row["fetch_mbps"]) == (1_000_000, 8, 4)


def test_an_unfinished_download_has_none() -> None:
    flow = quic().model_copy(update={"size_bytes": 1_000_000})
    row = rows(cell("solo", ["a"], [of_flow(trial(1, [8]), 0, flow)]))[0]
    assert row["download_mbps"] is None
    assert row["fetch_mbps"] is None


def test_a_page_load() -> None:
    page = Page(name="mine", objects=(PageObjects(count=3, size_bytes=1000),))
    flow = quic().model_copy(update={"page": page, "client": "light"})
    load = PageLoad(0, "old name", "light", 812.5, 100.0, 200.0, 800.0, objects=3, complete=3)
    one = replace(of_flow(trial(1, [5]), 0, flow), page_loads=(load,))
    row = rows(replace(cell("solo", ["a"], [one]), page="mine"))[0]
    assert (row["page"], row["page_objects"], row["page_bytes"]) == ("mine", 3, 3000)
    assert (row["page_client"], row["plt_ms"], row["size_bytes"]) == ("light", 812.5, None)
    # as a download: 24,000 bits in 0.8125 s
    assert row["fetch_s"] == pytest.approx(0.8125)
    assert row["fetch_mbps"] == pytest.approx(0.024 / 0.8125)


def test_time_in_state() -> None:
    machine = Machine(
        {"slow_start": 1 * S, "congestion_avoidance": 6 * S, "recovery": 3 * S},
        {
            ("slow_start", "recovery"): 1,
            ("recovery", "congestion_avoidance"): 4,
            ("congestion_avoidance", "recovery"): 3,
            ("recovery", "retransmission_timeout"): 1,
        },
        inferred_share=0.0,
        unobservable=frozenset({"tail_loss_probe"}),
    )
    row = rows(cell("solo", ["a"], [replace(trial(1, [5]), machines=(machine,))]))[0]
    assert row["state.slow_start_percent"] == pytest.approx(10)
    assert row["state.recovery_percent"] == pytest.approx(30)
    assert row["state.application_limited_percent"] == 0
    assert row["state.tail_loss_probe_percent"] is None
    # a timeout within recovery answers the same loss
    assert row["loss_events"] == 4
    silent = Machine({"slow_start": S}, {}, 0.0, unobservable=frozenset({"recovery"}))
    row = rows(cell("solo", ["a"], [replace(trial(1, [5]), machines=(silent,))]))[0]
    assert (row["state.recovery_percent"], row["loss_events"]) == (None, None)


def test_a_flow_without_traces_is_null_in_them() -> None:
    row = rows(cell("solo", ["a"], [trial(1, [5])]))[0]
    assert {row[name] for name in row if name.startswith("state")} == {None}
    assert (row["cwnd_mean_packets"], row["loss_events"], row["timeouts"]) == (None, None, None)


def square(x: float, y: float) -> Envelope:
    """The corners of a unit square."""
    return from_points(np.array([[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]]))


def with_envelopes(name: str, envelopes: dict[int, Envelope]) -> Cell:
    trials = [replace(trial(seed, [10, 10]), envelope=one) for seed, one in envelopes.items()]
    return cell("versus-reference", [name, "ref"], trials)


def test_conformance_is_that_of_the_same_seed() -> None:
    floor = with_envelopes("ref", {1: square(0, 0), 2: square(5, 5), 3: square(0, 0)})
    mine = with_envelopes("mine", {1: square(0, 0), 2: square(0, 0), 4: square(0, 0)})
    found = {(row["subject"], row["seed"], row["flow"]): row for row in rows(floor, mine)}
    same, far = found["mine", 1, 0], found["mine", 2, 0]
    assert (same["conformance"], same["deviation"]) == (1, 0)
    assert (far["conformance"], far["deviation_mbps"], far["deviation_ms"]) == (0, -5, -5)
    # the reference's seed 1 is like its seed 3 and unlike its seed 2
    assert same["conformance_floor"] == pytest.approx(0.5)
    assert far["conformance_floor"] == 0
    assert (same["conformance_deficit"], far["conformance_deficit"]) == (pytest.approx(-0.5), 0)
    assert (found["ref", 1, 0]["conformance"], found["ref", 1, 0]["conformance_floor"]) == (None, 0.5)
    # no reference trial of that seed; and flow 1 is the reference itself
    assert (found["mine", 4, 0]["conformance"], found["mine", 4, 0]["conformance_floor"]) == (None, None)
    assert found["mine", 1, 1]["conformance"] is None


def test_without_trials_the_columns_are_there() -> None:
    nothing = observations(collected("solo", [cell("solo", ["a"], [])]))
    something = observations(collected("solo", [cell("solo", ["a"], [trial(1, [5])])]))
    assert nothing.height == 0
    assert nothing.schema == something.schema


def test_every_quantity_is_a_column_and_every_column_a_quantity() -> None:
    frame = observations(collected("solo", [cell("solo", ["a"], [trial(1, [5])])]))
    assert frame.columns == list(quantities.ALL)
    assert frame.schema == {name: one.dtype for name, one in quantities.ALL.items()}


def test_they_need_no_judgement(tmp_path: Path) -> None:
    """What is left out to be quick is no part of them."""
    results = Results(report_results.copy(tmp_path, _one_group))
    assert observations(collect(results, judged=False)).equals(observations(collect(results)))


def _one_group(data: dict[str, Any]) -> None:
    data["groups"] = [report_results.group(data, "tcp cubic with TLS")]
    data["study"]["measured_from_s"] = 3.0


def test_the_study_says_from_when(tmp_path: Path) -> None:
    results = Results(report_results.copy(tmp_path, _one_group))
    frame = observations(collect(results))
    assert frame["measured_from_s"].to_list() == [3.0] * 6
    row = frame.row(0, named=True)
    result = results.trial(row["trial"])
    end_ns = json.loads((result.folder / "manifest.json").read_text())["guest"]["end_ns"]
    left = result.packets.filter(
        (pl.col("outcome") == "departed")
        & (pl.col("flow") == 0)
        & (pl.col("departure_ns") >= 3 * S)
        & (pl.col("departure_ns") < end_ns)
    )
    span_us = (end_ns - 3 * S) / 1000
    sizes = left["size_bytes"].cast(pl.Int64)
    assert row["throughput_mbps"] == pytest.approx(sizes.sum() * 8 / span_us)
    assert row["payload_mbps"] == pytest.approx((sizes - 66).sum() * 8 / span_us)
    assert row["payload_capacity_percent"] == pytest.approx(100 * row["payload_mbps"] / 4)
    assert row["cwnd_mean_packets"] > 1
    assert row["packet_mean_bytes"] == pytest.approx(sizes.sum() / len(sizes) - 14)
    # kernel TCP's window rises by whole packets, so no rise is less than one of them
    assert 0 < row["cwnd_rises_per_s"] <= row["cwnd_growth_packets_per_s"]
    assert row["cwnd_rate_mbps"] > 0
