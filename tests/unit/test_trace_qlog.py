"""qlogs of different stacks' making, read into one schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cambrian.trace import qlog

ZERO_NS = 1_800_000_002_000_000_000
MONOTONIC_NS = 1_799_999_999_999_999_744
METRICS = {"congestion_window": 14520, "bytes_in_flight": 1200, "smoothed_rtt": 50.25}


def _event(time: float, name: str = "recovery:metrics_updated", /, **data: Any) -> dict[str, Any]:
    return {"time": time, "name": name, "data": data}


def _read(path: Path, end_ns: int = 10**10, began_ns: int = 25_000_000) -> pl.DataFrame:
    return qlog.read(
        path, 3, zero_ns=ZERO_NS, end_ns=end_ns, realtime_minus_monotonic_ns=MONOTONIC_NS, began_ns=began_ns
    )


def _lines(path: Path, common: dict[str, Any], *events: dict[str, Any], separator: str = "") -> Path:
    head = {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "trace": {"common_fields": common}}
    path.write_text("".join(f"{separator}{json.dumps(record)}\n" for record in (head, *events)))
    return path


@pytest.mark.parametrize("separator", ["", "\x1e"])
def test_records_a_line_with_a_wall_clock(tmp_path: Path, separator: str) -> None:
    common = {"time_format": "relative", "reference_time": ZERO_NS / 1e6}
    found = _read(_lines(tmp_path / "a.sqlog", common, _event(10.5, **METRICS), separator=separator))
    row = found.row(0, named=True)
    assert (row["flow"], row["time_ns"], row["event"]) == (3, 10_500_000, "ack")
    assert (row["cwnd_bytes"], row["in_flight_bytes"], row["srtt_us"]) == (14520, 1200, 50250)
    assert row["ssthresh_bytes"] is None


def test_a_reference_that_is_no_wall_clock_is_the_monotonic_one(tmp_path: Path) -> None:
    since_boot_ms = (ZERO_NS - MONOTONIC_NS) / 1e6
    common = {"time_format": "relative", "reference_time": since_boot_ms}
    (at,) = _read(_lines(tmp_path / "a.sqlog", common, _event(7, **METRICS)))["time_ns"]
    assert at == pytest.approx(7_000_000, abs=1000)


def test_no_reference_means_the_connection_s_beginning(tmp_path: Path) -> None:
    common = {"time_format": "relative", "reference_time": 0}
    (at,) = _read(_lines(tmp_path / "a.sqlog", common, _event(7, **METRICS)))["time_ns"]
    assert at == 25_000_000 + 7_000_000


def test_absolute_and_delta_times(tmp_path: Path) -> None:
    absolute = _lines(
        tmp_path / "a", {"time_format": "absolute"}, _event(ZERO_NS / 1e6 + 3, congestion_window=1)
    )
    # a float of milliseconds since 1970 is good to a quarter of a microsecond
    assert _read(absolute)["time_ns"].to_list() == [pytest.approx(3_000_000, abs=250)]
    delta = {"time_format": "delta", "reference_time": ZERO_NS / 1e6}
    steps = _lines(tmp_path / "b", delta, *(_event(2, congestion_window=n) for n in (1, 2, 3)))
    assert _read(steps)["time_ns"].to_list() == [2_000_000, 4_000_000, 6_000_000]


def test_one_object_with_traces_states_and_losses(tmp_path: Path) -> None:
    events = [
        _event(1, congestion_window=10, ssthresh=2**63),
        _event(2, "recovery:congestion_state_updated", old="slow_start", new="Recovery"),
        _event(3, "recovery:packet_lost", header={}),
        _event(4, "transport:packet_sent", header={}),
    ]
    trace = {"common_fields": {"time_format": "relative", "reference_time": ZERO_NS / 1e6}, "events": events}
    path = tmp_path / "a.qlog"
    path.write_text(json.dumps({"qlog_version": "0.3", "traces": [trace]}))
    found = _read(path)
    assert found["event"].to_list() == ["ack", "sample", "loss"]
    assert found["cwnd_bytes"].to_list() == [10, 10, 10]
    assert found["state"].to_list() == [None, "recovery", "recovery"]
    assert found["ssthresh_bytes"].null_count() == 3


def test_each_trace_of_a_file_counts_its_time_from_its_own_beginning(tmp_path: Path) -> None:
    common = {"time_format": "delta", "reference_time": ZERO_NS / 1e6}
    trace = {"common_fields": common, "events": [_event(2, congestion_window=n) for n in (1, 2)]}
    path = tmp_path / "a.qlog"
    path.write_text(json.dumps({"qlog_version": "0.3", "traces": [trace, trace]}))
    assert _read(path)["time_ns"].to_list() == [2_000_000, 4_000_000, 2_000_000, 4_000_000]


def test_a_cut_line_another_file_and_times_outside_give_no_rows(tmp_path: Path) -> None:
    common = {"time_format": "relative", "reference_time": ZERO_NS / 1e6}
    path = _lines(tmp_path / "a", common, _event(-1, congestion_window=1), _event(5000, congestion_window=2))
    path.write_text(path.read_text() + '{"time":1,"name":"recovery:metr')
    assert _read(path, end_ns=10**9).height == 0
    (tmp_path / "other").write_text("hello\n")
    assert _read(tmp_path / "other").height == 0


def _draft_00(*events: str, end: str = "]}]}") -> str:
    """As picoquic writes it: lists, microseconds, a reference as text."""
    head = (
        '{ "qlog_version": "draft-00", "title": "picoquic", "traces": [\n'
        '{ "vantage_point": { "name": "backend-67", "type": "server" },\n'
        '"event_fields": ["relative_time", "CATEGORY", "EVENT_TYPE", "DATA"],\n'
        '"configuration": {"time_units": "us"},\n'
        f'"common_fields": {{ "protocol_type": "QUIC_HTTP3", "reference_time": "{ZERO_NS // 1000}"}},\n'
        '"events": ['
    )
    return head + ",\n".join(events) + end


LISTS = (
    '[1500, "recovery", "metrics_updated", {"cwnd": 14520, "smoothed_rtt": 50250, "pacing_rate": 9000}]',
    '[2500, "recovery", "packet_lost", {"packet_type": "1RTT"}]',
    '["3500", "recovery", "metrics_updated", {"cwnd": "7260"}]',
)


@pytest.mark.parametrize("end", ["]}]}", "", ',\n[4500, "recovery", "metrics_upd', "]", "]}"])
def test_lists_of_draft_00_whole_and_cut_short(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.qlog"
    path.write_text(_draft_00(*LISTS, end=end))
    found = _read(path)
    assert found["event"].to_list() == ["ack", "loss", "ack"]
    assert found["time_ns"].to_list() == [1_500_000, 2_500_000, 3_500_000]
    assert found["cwnd_bytes"].to_list() == [14520, 14520, 7260]
    assert found["srtt_us"].to_list() == [50250] * 3
    assert found["pacing_bps"].to_list() == [9000] * 3


def test_named_events_of_draft_02_and_milliseconds_of_draft_01(tmp_path: Path) -> None:
    trace = {
        "configuration": {"time_units": "ms"},
        "common_fields": {"reference_time": str(ZERO_NS // 10**6)},
        "event_fields": ["delta_time", "category", "event_type", "data"],
        "events": [[2, "recovery", "metric_update", {"congestion_window": 9, "smoothed_rtt": 50.25}]] * 2,
    }
    path = tmp_path / "a.qlog"
    path.write_text(json.dumps({"qlog_version": "draft-01", "traces": [trace]}))
    assert _read(path)["time_ns"].to_list() == [2_000_000, 4_000_000]
    assert _read(path)["srtt_us"].to_list() == [50250, 50250]
    event = {"relative_time": 5, "category": "recovery", "type": "metrics_updated", "data": {"cwnd": 3}}
    del trace["event_fields"]
    path.write_text(json.dumps({"qlog_version": "draft-02", "traces": [trace | {"events": [event]}]}))
    assert _read(path)["time_ns"].to_list() == [5_000_000]


def test_a_date_is_a_reference(tmp_path: Path) -> None:
    # the newest drafts: RFC 3339
    common = {"reference_time": {"clock_type": "system", "wall_clock_time": "2027-01-15T08:00:02.000000Z"}}
    found = _read(_lines(tmp_path / "a", common, _event(7, congestion_window=1)))
    assert found["time_ns"].to_list() == [7_000_000]


START = "2027-01-15T08:00:02.000000Z"
MONOTONIC = {"clock_type": "monotonic", "epoch": "unknown", "wall_clock_time": START}
SYSTEM = {"clock_type": "system", "epoch": "1970-01-01T00:00:00.000Z"}


@pytest.mark.parametrize(
    ("common", "times_ms"),
    [
        ({"reference_time": MONOTONIC, "time_format": "relative_to_epoch"}, [0, 10, 30]),
        ({"reference_time": MONOTONIC, "time_format": "relative_to_previous_event"}, [0, 10, 20]),
        ({"reference_time": {"clock_type": "system", "epoch": START}}, [0, 10, 30]),
        ({"reference_time": SYSTEM}, [ZERO_NS / 1e6 + more_ms for more_ms in (0, 10, 30)]),
        ({"reference_time": SYSTEM, "time_format": "relative_to_previous_event"}, [ZERO_NS / 1e6, 10, 20]),
        ({"reference_time": SYSTEM | {"wall_clock_time": START}}, [ZERO_NS / 1e6, ZERO_NS / 1e6 + 10]),
        ({"time_format": "relative_to_epoch"}, [ZERO_NS / 1e6, ZERO_NS / 1e6 + 10]),
    ],
)
def test_times_of_the_newest_drafts(tmp_path: Path, common: dict[str, Any], times_ms: list[float]) -> None:
    found = _read(_lines(tmp_path / "a", common, *(_event(ms, congestion_window=1) for ms in times_ms)))
    expected = [0, 10_000_000, 30_000_000][: len(times_ms)]
    assert found["time_ns"].to_list() == [pytest.approx(time_ns, abs=500) for time_ns in expected]


@pytest.mark.parametrize(
    "text",
    [
        '{"traces": [{"events": [',
        '{"traces": [{"events": [[], 3, null, "x"]}]}',
        '{"traces": [{"event_fields": ["relative_time"], "events": [["x"], [true], [1e400]]}]}',
        '{"events": [1, 2',
        '{"traces": [3, null, "x"]}',
        '{"trace": 3}\n{"time": 1, "name": "recovery:other", "data": [1]}',
        '{"traces": [{"common_fields": {"reference_time": "soon"}, "events": []',
    ],
)
def test_odd_files_give_no_rows(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.qlog"
    path.write_text(text)
    assert _read(path).height == 0
