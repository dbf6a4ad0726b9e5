"""When a flow of fixed size was complete: never where another size was carried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cambrian.measure.flow_window import TrialWindow
from cambrian.measure.measuring import flow_measures
from cambrian.metrics.columns import PACKETS
from cambrian.store.results import TrialResult
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trace.schema import TRANSPORT

S = 1_000_000_000
FRAME_BYTES = 1514


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
    link = {"sent_packets": 2, "dropped_packets": 0, "backlog_packets": 0, "kind": "netem"}
    manifest = {
        "endpoints": {"flow0.receiver": [{"event": "done", "time_ns": 103 * S, **done}]},
        "guest": {"zero_ns": 100 * S, "end_ns": 3 * S, "counters": {"flows": [{"forward": [link]}]}},
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
