"""Mahimahi traces: accepted or refused by line, and their mean rate."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.study.errors import StudyError
from cambrian.study.model import Network
from cambrian.study.tracefile import mean_rate_mbps, parse_trace, read_trace

STUDIES = Path(__file__).resolve().parents[2] / "studies"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "empty"),
        ("1\n\n2\n", 2, "an empty line"),
        ("1\n2\n\n", 3, "an empty line"),
        ("1\n2 \n", 2, "'2 '"),
        ("1\n-2\n", 2, "'-2'"),
        ("1.5\n", 1, "'1.5'"),
        ("# made by hand\n1\n", 1, "'# made by hand'"),
        ("5\n7\n6\n8\n", 3, "time goes back, from 7 to 6 ms"),
        ("0\n0\n", 2, "has no duration"),
        ("9" * 16, 1, "not a time stamp"),
    ],
)
def test_a_malformed_trace_is_refused_by_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse_trace(text, "link.trace")
    assert (caught.value.file, caught.value.line) == ("link.trace", line)
    assert problem in caught.value.problem
    assert caught.value.remedy


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "binary.trace"
    path.write_bytes(b"1\n2\n\xff\n")
    with pytest.raises(StudyError, match="not plain text") as caught:
        read_trace(path)
    assert caught.value.line == 3


def test_one_packet_a_millisecond() -> None:
    trace = parse_trace("1", "link.trace")
    assert trace.period_ms == 1
    assert trace.mean_rate_mbps == pytest.approx(12.112)  # 1514 bytes a millisecond


def test_windows_line_ends() -> None:
    assert parse_trace("1\r\n2\r\n", "x").times_ms == (1, 2)


@given(st.lists(st.integers(0, 10**6), min_size=1), st.integers(1, 10**6))
def test_what_is_written_is_read(times: list[int], last: int) -> None:
    times = [*sorted(min(time, last) for time in times), last]
    trace = parse_trace("".join(f"{time}\n" for time in times), "x")
    assert list(trace.times_ms) == times
    assert trace.mean_rate_mbps * 1e6 * last / 1e3 == pytest.approx(len(times) * 1514 * 8)


def test_the_mean_rate_of_a_network(tmp_path: Path) -> None:
    path = tmp_path / "half.trace"
    path.write_text("2\n")
    assert mean_rate_mbps(Network(trace_file=str(path), rtt_ms=50, buffer_bdp=1)) == pytest.approx(6.056)
    assert mean_rate_mbps(Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)) == 20


def due(time_ms: int) -> float:
    """The formula in docs/reference/studies.md: packets that ``waves-12mbps`` can have sent by then."""
    turn = 2 * math.pi * time_ms / 1000
    return time_ms + (5000 * (1 - math.cos(turn / 10)) + 625 * (1 - math.cos(turn / 2.5))) / (2 * math.pi)


def test_our_own_trace_is_what_the_docs_say() -> None:
    trace = read_trace(STUDIES / "traces" / "waves-12mbps.trace")
    assert (len(trace.times_ms), trace.period_ms) == (10_000, 10_000)
    for number, time_ms in enumerate(trace.times_ms, start=1):
        assert due(time_ms) + 1e-6 >= number > due(time_ms - 1) + 1e-6 * (time_ms > 0) - 1e-3
