"""Flows of fixed size: when each was complete (never where another size was carried), what is measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cambrian.measure.flow_window import FlowMeasures, TrialWindow
from cambrian.measure.measuring import flow_measures, measured_ns
from cambrian.metrics.columns import PACKETS
from cambrian.store.results import TrialResult
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trace.schema import TRANSPORT

S = 1_000_000_000
FRAME_BYTES = 1514
#: counters of a link's netem
LINK = {
    "sent_packets": 2,
    "sent_bytes": 2 * FRAME_BYTES,
    "dropped_packets": 0,
    "backlog_packets": 0,
    "kind": "netem",
}


def completion_s(folder: Path, done: dict[str, Any]) -> tuple[float | None, float | None]:
    """At the bottleneck and for the client, of 1 MB whose last packet leaves after 2 s."""
    flow = Flow(contestant=Contestant(stack="tcp", cca="cubic"), size_bytes=1_000_000)
    trial = Trial(
        network=Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1), flows=(flow,), duration_s=10, seed=1
    )
    packets = pl.DataFrame(
        {
            "flow": [0, 0],
            "arrival_ns": [0, 2 * S - 1000],
            "departure_ns": [1000, 2 * S - 1],
            "size_bytes": [FRAME_BYTES, FRAME_BYTES],
            "outcome": ["departed", "departed"],
            "ce": [False, False],
        },
        schema_overrides=PACKETS,
    )
    manifest = {
        "endpoints": {"flow0.receiver": [{"event": "done", "time_ns": 103 * S, **done}]},
        "guest": {
            "zero_ns": 100 * S,
            "end_ns": 3 * S,
            "counters": {"flows": [{"forward": [LINK], "back": []}]},
        },
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "verdict.json").write_text(json.dumps({"valid": True}))
    packets.write_parquet(folder / "packets.parquet")
    pl.DataFrame(schema=TRANSPORT).write_parquet(folder / "transport.parquet")
    window = TrialWindow(TrialResult(folder), trial, (0, 3 * S), [(0, 20.0)], [None])
    (found,) = flow_measures(window)
    return found["completion_s"], found["fetch_s"]


def test_what_was_asked_for_has_two_times(tmp_path: Path) -> None:
    found = completion_s(tmp_path, {"complete": True, "bytes": 1_000_000})
    assert found == pytest.approx((2.0, 3.0))


@pytest.mark.parametrize(
    "done", [{"complete": False, "bytes": 1_000_000}, {"complete": True, "bytes": 1_048_576}]
)
def test_less_or_more_has_none(tmp_path: Path, done: dict[str, Any]) -> None:
    assert completion_s(tmp_path, done) == (None, None)


def interval_s(
    folder: Path, sizes: list[int], done_s: list[float | None], from_s: float | None
) -> list[float]:
    """The measured interval of a trial of flows that start after 0.2 s, 0.3 s…; a size of 0 is endless."""
    flows = tuple(
        Flow(contestant=Contestant(stack="tcp", cca="cubic"), size_bytes=size, start_ms=200 + 100 * place)
        for place, size in enumerate(sizes)
    )
    trial = Trial(network=Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1), flows=flows, duration_s=10, seed=1)
    end_s = 10 if None in done_s else max(one for one in done_s if one is not None) + 0.01
    endpoints = {
        f"flow{place}.receiver": [{"event": "done", "time_ns": round((100 + at_s) * S), "complete": True}]
        for place, at_s in enumerate(done_s)
        if at_s is not None
    }
    manifest = {"endpoints": endpoints, "guest": {"zero_ns": 100 * S, "end_ns": round(end_s * S)}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "verdict.json").write_text(json.dumps({"valid": True}))
    return [at_ns / S for at_ns in measured_ns(TrialResult(folder), trial, from_s)]


@pytest.mark.parametrize("from_s", [None, 0.0, 1.0])
@pytest.mark.parametrize(("last_s", "to_s"), [(0.5, 0.5), (1.4, 1.4), (None, 10.0)])
def test_trials_without_an_endless_flow_have_one_rule(
    tmp_path: Path, from_s: float | None, last_s: float | None, to_s: float
) -> None:
    """However early they end: 20 round trips after the last start are 1.3 s, and no warm-up is left out."""
    found = interval_s(tmp_path, [1_000_000, 1_000_000], [0.4, last_s], from_s)
    assert found == pytest.approx([0.2, to_s])


def test_an_endless_flow_decides_as_before(tmp_path: Path) -> None:
    assert interval_s(tmp_path, [0, 1_000_000], [None, 0.5], None) == pytest.approx([1.2, 10])
    assert interval_s(tmp_path, [0, 1_000_000], [None, 0.5], 3.0) == pytest.approx([3, 10])


def ended_early(
    folder: Path,
    arrivals_s: list[float],
    left_s: list[float | None],
    windows: dict[float, int] | None = None,
    ended_s: float | None = None,
) -> FlowMeasures:
    """A flow of 1 MB that starts after 1 s in a trial of 20 s, and never has all; the guest ends at 11 s.

    ``windows``: seconds → packets, its log. ``ended_s``: when it gave up.
    """
    flow = Flow(contestant=Contestant(stack="tcp", cca="cubic"), size_bytes=1_000_000, start_ms=1000)
    trial = Trial(
        network=Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1), flows=(flow,), duration_s=20, seed=1
    )
    packets = pl.DataFrame(
        {
            "flow": [0] * len(arrivals_s),
            "arrival_ns": [round(at_s * S) for at_s in arrivals_s],
            "departure_ns": [None if at_s is None else round(at_s * S) for at_s in left_s],
            "size_bytes": [FRAME_BYTES] * len(arrivals_s),
            "outcome": ["dropped" if at_s is None else "departed" for at_s in left_s],
            "ce": [False] * len(arrivals_s),
        },
        schema=PACKETS,
    )
    guest = {"zero_ns": 0, "end_ns": 11 * S, "counters": {"flows": [{"forward": [LINK], "back": []}]}}
    (folder / "manifest.json").write_text(json.dumps({"endpoints": {}, "guest": guest}))
    end = {"flow": 0, "outcome": "gave up", "ended_s": ended_s, "text": ""}
    (folder / "verdict.json").write_text(json.dumps({"valid": True, "flows": [end]}))
    packets.write_parquet(folder / "packets.parquet")
    rows = [
        {"flow": 0, "time_ns": round(at_s * S), "event": "ack", "cwnd_bytes": 1448 * cwnd}
        for at_s, cwnd in (windows or {}).items()
    ]
    pl.DataFrame(rows, schema=TRANSPORT).write_parquet(folder / "transport.parquet")
    (found,) = flow_measures(TrialWindow(TrialResult(folder), trial, (0, 11 * S), [(0, 20.0)], ["tcp"]))
    return found


@pytest.mark.parametrize(
    ("arrivals_s", "left_s", "from_s"),
    [
        # one packet through an empty queue, in no time
        ([2.0], [2.0], 2.0),
        # fast at first, then starved
        ([2.0 + 0.001 * place for place in range(500)], [2.0 + 0.001 * place for place in range(500)], 2.0),
        ([3.0, 4.0], [None, None], 3.0),
        ([], [], 1.0),
    ],
)
def test_a_flow_that_never_had_all_is_measured_to_the_planned_end(
    tmp_path: Path, arrivals_s: list[float], left_s: list[float | None], from_s: float
) -> None:
    found = ended_early(tmp_path, arrivals_s, left_s)
    carried_bits = 8 * FRAME_BYTES * sum(at_s is not None for at_s in left_s)
    mbps = carried_bits / 1e6 / (20 - from_s)
    assert found["throughput_mbps"] == pytest.approx(mbps)
    assert found["payload_capacity_percent"] == pytest.approx(100 * mbps / 20 * 1448 / 1514)
    assert found["longest_pause_ms"] == pytest.approx(1e3 * (20 - max([from_s, *filter(None, left_s)])))
    assert found["completion_s"] is None


def test_the_last_row_of_a_log_says_nothing_after_the_flows_end(tmp_path: Path) -> None:
    sent = [2.0 + 0.001 * place for place in range(500)]
    found = ended_early(tmp_path, sent, list(sent), windows={2.0: 100, 3.9: 10}, ended_s=4.0)
    assert found["cwnd_mean_packets"] == pytest.approx((1.9 * 100 + 0.1 * 10) / 2)
