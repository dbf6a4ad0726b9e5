"""A trial's series as the page gets them: exact, and as small as they are asked to be."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from cambrian.metrics.columns import int64
from cambrian.report import series, timelines
from cambrian.store.results import Results, TrialResult
from tests.unit import report_results


@pytest.fixture(scope="module")
def result() -> TrialResult:
    results = Results(report_results.KNOBS)
    return results.trial(report_results.group(results.study(), "tcp cubic with TLS")["trials"][0])


def unpacked(packed: dict[str, Any]) -> dict[str, list[list[int]]]:
    """Series → its rows of stored numbers, read without the code that wrote them."""
    numbers, value, place = [], 0, 0
    for byte in zlib.decompress(base64.b64decode(packed["data"])):
        value |= (byte & 127) << place
        place += 7
        if byte < 128:
            numbers.append(value)
            value = place = 0
    rows: dict[str, list[list[int]]] = {}
    for kind in packed["kinds"]:
        rows[kind["name"]] = []
        for length in kind["lengths"]:
            row, numbers = numbers[:length], numbers[length:]
            if kind["name"] != "throughput_mbps":
                row = [
                    int(one) for one in np.cumsum([n // 2 if n % 2 == 0 else -(n + 1) // 2 for n in row]) - 1
                ]
            rows[kind["name"]].append(row)
    assert not numbers
    return rows


def read(result: TrialResult, most_bytes: int) -> series.Timeline:
    duration_s = float(result.manifest["trial"]["duration_s"])
    return series.read(
        result,
        flow_count=2,
        duration_s=duration_s,
        most_bytes=most_bytes,
        coarse_step_ns=series.coarse_step_ns(duration_s),
    )


@pytest.mark.parametrize("most_bytes", [100_000, 10_000])
def test_throughput_has_every_byte_that_left_the_link(result: TrialResult, most_bytes: int) -> None:
    packed = read(result, most_bytes).packed
    end_ns = packed["steps"] * packed["step_us"] * 1000
    left = result.packets.filter((pl.col("outcome") == "departed") & (pl.col("departure_ns") < end_ns))
    for flow, row in enumerate(unpacked(packed)["throughput_mbps"]):
        assert sum(row) == int64(left.filter(pl.col("flow") == flow), "size_bytes").sum()


def test_every_drop_is_there_in_its_step(result: TrialResult) -> None:
    packed = read(result, 100_000).packed
    step_ns = packed["step_us"] * 1000
    for flow, row in enumerate(unpacked(packed)["drops_s"]):
        dropped = result.packets.filter((pl.col("outcome") == "dropped") & (pl.col("flow") == flow))
        assert row == sorted((int64(dropped, "arrival_ns") // step_ns).tolist())
    (scale,) = (kind["scale"] for kind in packed["kinds"] if kind["name"] == "drops_s")
    assert scale == step_ns / 1e9


def lossy(departed: int, dropped: int, end_ns: int) -> Any:
    """A trial of one flow: packets depart at equal intervals, others are dropped at random times."""
    left = np.arange(departed) * end_ns // departed
    drops = np.sort(np.random.default_rng(1).integers(0, end_ns, dropped))
    packets = pl.DataFrame(
        {
            "flow": 0,
            "arrival_ns": np.concatenate([left, drops]),
            "departure_ns": [*left.tolist(), *[None] * dropped],
            "size_bytes": 1500,
            "outcome": ["departed"] * departed + ["dropped"] * dropped,
        },
        schema_overrides={"flow": pl.Int64, "departure_ns": pl.Int64, "size_bytes": pl.Int64},
    ).sort("arrival_ns")
    reports = dict.fromkeys(("flow", "time_ns", "cwnd_bytes", "in_flight_bytes"), pl.Int64)
    return SimpleNamespace(id="", packets=packets, transport=pl.DataFrame(schema=reports))


def test_many_drops_leave_short_steps_and_the_whole_trial() -> None:
    duration_s, drops, most = 60, 20_000, 15_000
    made = series.read(
        lossy(100_000, drops, duration_s * 10**9),
        flow_count=1,
        duration_s=duration_s,
        most_bytes=most,
        coarse_step_ns=500_000_000,
    ).packed
    assert len(made["data"]) <= most
    assert made["step_us"] <= 20_000
    assert len(unpacked(made)["drops_s"][0]) == drops


def test_the_last_step_is_shorter_when_steps_do_not_divide_the_trial() -> None:
    """1,200 packets of 1,500 bytes in 1.2 s: 0.5 s have 500 of them, and so would the last 0.2 s."""
    grid = series.Grid(1_200_000_000, 500_000_000, 1)
    made = series.packed(lossy(1200, 3, grid.end_ns), grid)
    assert made["steps"] == 3
    assert unpacked(made)["throughput_mbps"] == [[750_000] * 3]


def test_a_window_is_the_last_that_was_reported(result: TrialResult) -> None:
    packed = read(result, 100_000).packed
    row = unpacked(packed)["cwnd_kb"][0]
    reported = result.transport.filter((pl.col("flow") == 0) & pl.col("cwnd_bytes").is_not_null())
    for step in (packed["steps"] // 3, packed["steps"] - 1):
        before = reported.filter(pl.col("time_ns") < (step + 1) * packed["step_us"] * 1000)
        assert row[step] == round(int64(before, "cwnd_bytes")[-1] / 100)
    assert row[0] == -1


def test_a_smaller_budget_makes_longer_steps(result: TrialResult) -> None:
    made = [read(result, most).packed for most in (100_000, 20_000, 5_000)]
    assert [one["step_us"] for one in made] == sorted({one["step_us"] for one in made})
    assert all(len(one["data"]) <= most for one, most in zip(made, (100_000, 20_000, 5_000), strict=True))


def test_coarse_throughput_has_the_same_mean(result: TrialResult) -> None:
    timeline = read(result, 10_000)
    assert all(len(row) <= series.COARSE for row in timeline.coarse_mbps)
    end_ns = round(float(result.manifest["trial"]["duration_s"]) * 1e9)
    for flow, row in enumerate(timeline.coarse_mbps):
        left = result.packets.filter(
            (pl.col("outcome") == "departed") & (pl.col("departure_ns") < end_ns) & (pl.col("flow") == flow)
        )
        assert np.mean(row) == pytest.approx(int64(left, "size_bytes").sum() * 8000 / end_ns, rel=1e-3)


def test_the_spread_of_loads_that_end_at_different_times_is_that_of_the_same_instants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In each load 10 Mbps leave from 1 s to 2 s, and nothing before or after."""
    departures = np.arange(10**9, 2 * 10**9, 10**6)
    packets = pl.DataFrame(
        {
            "flow": 0,
            "arrival_ns": departures,
            "departure_ns": departures,
            "size_bytes": 1250,
            "outcome": "departed",
        },
        schema_overrides={"flow": pl.Int64, "size_bytes": pl.Int64},
    )
    monkeypatch.setattr(series, "packed", lambda *_: {"data": "", "step_us": 1})
    monkeypatch.setattr(
        timelines, "TrialResult", lambda folder: SimpleNamespace(id=folder.name, packets=packets)
    )
    monkeypatch.setattr(timelines, "key_of_trial", lambda *_: "")
    monkeypatch.setattr(timelines, "kept", lambda make, items, **_: [make(*one) for one in items])
    loads = [
        SimpleNamespace(id=f"{end_s}", folder=Path(f"{end_s}"), flows=[0], shown_s=end_s)
        for end_s in (4.7, 4.9, 4.88)
    ]
    cell: Any = SimpleNamespace(trials=loads, shown_s=4.9)
    collected: Any = SimpleNamespace(cells=[cell])
    spread = timelines._spread(cell, timelines.of(collected))
    assert spread["step_s"] == 0.05
    for values in np.array(spread["mbps"])[:, 0]:
        assert np.flatnonzero(values).tolist() == list(range(20, 40))


def test_a_load_shorter_than_a_coarse_step_has_one(result: TrialResult) -> None:
    made = series.read(result, flow_count=2, duration_s=0.1, most_bytes=1000, coarse_step_ns=500_000_000)
    assert [len(row) for row in made.coarse_mbps] == [1, 1]
