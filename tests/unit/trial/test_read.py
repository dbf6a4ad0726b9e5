"""What is read of a guest's files, and what is said of rows that are left out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cambrian.stacks import catalogue
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trace import endpoint_log
from cambrian.trial import read

S = 1_000_000_000
ZERO_NS = 1_800_000_000 * S


def _trial(stack: str) -> Trial:
    return Trial(
        network=Network(rate_mbps=10, rtt_ms=50, buffer_bdp=1),
        flows=(Flow(contestant=Contestant(stack=stack, cca="cubic")),),
        duration_s=60,
    )


def _sent(packets: int) -> pl.DataFrame:
    at = {"flow": [0] * packets, "arrival_ns": [0] * packets}
    return pl.DataFrame(at, schema={"flow": pl.UInt16, "arrival_ns": pl.Int64})


@pytest.mark.parametrize(
    ("inside", "outside", "said"),
    [(0, 3, "3 of 3 rows of flow0.sender"), (5, 2, ""), (1, 2, "2 of 3 rows of flow0.sender")],
)
@pytest.mark.parametrize("late_rows", [0, 9])
def test_a_log_whose_times_are_outside_the_trial_is_no_silence(
    tmp_path: Path, inside: int, outside: int, said: str, late_rows: int
) -> None:
    # a clock that began with the guest; and what a program logs while the trial shuts down
    times = [ZERO_NS + S] * inside + [90 * S] * outside + [ZERO_NS + 61 * S] * late_rows
    rows = [",".join(endpoint_log.HEAD), *(f"{time_ns},ack,30000,,,,," for time_ns in times), ""]
    (tmp_path / "flow0.transport.csv").write_text("\n".join(rows))
    report: Any = {"zero_ns": ZERO_NS, "end_ns": 60 * S, "realtime_minus_monotonic_ns": 0}
    frame, notes = read._transport(_trial("quinn"), report, tmp_path, _sent(1))
    assert frame.height == inside
    assert [note.partition(" were")[0] for note in notes] == ([f"transport log: {said}"] if said else [])


@pytest.mark.parametrize(
    ("stack", "has_log", "sent", "said"),
    [
        ("quinn", False, True, True),
        ("quinn", True, True, False),
        # it never sent, so there is nothing to log
        ("quinn", False, False, False),
        # its manifest promises none
        ("nginx", False, True, False),
    ],
)
def test_a_promised_log_that_is_missing_is_noted(
    tmp_path: Path, stack: str, has_log: bool, sent: bool, said: bool
) -> None:
    if has_log:
        row = f"{ZERO_NS + S},ack,30000,,,,,"
        (tmp_path / "flow0.transport.csv").write_text(",".join(endpoint_log.HEAD) + f"\n{row}\n")
    report: Any = {"zero_ns": ZERO_NS, "end_ns": 60 * S, "realtime_minus_monotonic_ns": 0}
    _, notes = read._transport(_trial(stack), report, tmp_path, _sent(sent))
    assert [note.partition(",")[0] for note in notes] == [
        "transport log: no row of flow0.sender was found"
    ] * said


@pytest.mark.parametrize("name", ["server.qlog", "one/server.qlog"])
def test_a_qlog_is_read_in_any_folder_below_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    quinn = catalogue.load()["quinn"]
    manifest = quinn.manifest.model_copy(update={"transport_trace": "qlog"})
    monkeypatch.setattr(catalogue, "load", lambda: {"quinn": replace(quinn, manifest=manifest)})
    (path := tmp_path / "flow0.qlog" / name).parent.mkdir(parents=True)
    event = {"time": 40, "name": "recovery:metrics_updated", "data": {"congestion_window": 14520}}
    path.write_text(f'{{"qlog_version": "0.3", "qlog_format": "JSON-SEQ"}}\n{json.dumps(event)}\n')
    report: Any = {"zero_ns": ZERO_NS, "end_ns": 60 * S, "realtime_minus_monotonic_ns": 0}
    frame, notes = read._transport(_trial("quinn"), report, tmp_path, _sent(1))
    assert (frame["cwnd_bytes"].to_list(), notes) == ([14520], [])


@pytest.mark.parametrize(("backlog_packets", "is_empty"), [(0, True), (7, False), (None, False)])
def test_an_empty_bottleneck_is_counted_by_the_kernel(backlog_packets: int | None, is_empty: bool) -> None:
    def trial(**network: Any) -> Trial:
        link = {"rtt_ms": 50, "buffer_bdp": 1} | network
        tcp = {"contestant": {"stack": "tcp", "cca": "cubic"}}
        return Trial.model_validate({"network": link, "flows": [tcp], "duration_s": 60})

    counted = [] if backlog_packets is None else [{"backlog_packets": backlog_packets}]
    report: Any = {"counters": {"bottleneck": counted}}
    assert read._is_empty(trial(rate_mbps=20), report) == is_empty
    # there a program holds the queue, and the kernel's is always empty
    assert not read._is_empty(trial(trace_file="a.trace"), report)


def test_the_last_words_of_a_program_are_short(tmp_path: Path) -> None:
    (tmp_path / "flow0.sender.err").write_text("first\n" + "x" * 1_000_000 + "\n")
    (tmp_path / "flow1.sender.err").touch()
    (said,) = read._last_words(tmp_path)
    assert said.startswith("flow0.sender said: xxx")
    assert len(said) < 2100
