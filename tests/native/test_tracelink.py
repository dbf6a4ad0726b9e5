"""What the trace link refuses, and where it says the fault is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


def refuse(program: Path, trace: Path, buffer_bytes: str = "100000") -> tuple[int, str]:
    """Exit status and message; the namespaces do not exist, so a good trace fails there, with 1."""
    where = ["--in-netns", "/nowhere/in", "--tun-in", "a", "--out-netns", "/nowhere/out", "--tun-out", "b"]
    argv = [str(program), "--trace", str(trace), "--buffer-bytes", buffer_bytes, *where]
    result = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=10)
    return result.returncode, result.stderr


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("1\n2\nx\n", 3, "not a time stamp"),
        ("1\n\n2\n", 2, "not a time stamp"),
        ("1\n-2\n", 2, "not a time stamp"),
        ("1.5\n", 1, "not a time stamp"),
        ("1234567890123456\n", 1, "not a time stamp"),
        ("5\n4\n", 2, "time goes back"),
        ("0\n0\n", 2, "lasts no time"),
        ("", 1, "empty"),
        ("1\n2\x003\n", 2, "not plain text"),
    ],
)
def test_a_bad_trace_is_named_by_file_and_line(
    tracelink: Path, tmp_path: Path, text: str, line: int, problem: str
) -> None:
    trace = tmp_path / "bad.trace"
    trace.write_text(text)
    status, message = refuse(tracelink, trace)
    assert status == 2
    assert f"{trace}:{line}: " in message
    assert problem in message


@pytest.mark.parametrize("text", ["1\n", "0\n0\n7", "3\r\n3\r\n"])
def test_a_good_trace_gets_as_far_as_the_namespaces(tracelink: Path, tmp_path: Path, text: str) -> None:
    trace = tmp_path / "good.trace"
    trace.write_text(text)
    status, message = refuse(tracelink, trace)
    assert (status, "/nowhere/in" in message) == (1, True)


def test_a_missing_trace_is_named(tracelink: Path, tmp_path: Path) -> None:
    status, message = refuse(tracelink, tmp_path / "absent")
    assert status == 1
    assert "absent: No such file" in message


def test_a_buffer_below_one_frame_is_refused(tracelink: Path, tmp_path: Path) -> None:
    trace = tmp_path / "good.trace"
    trace.write_text("1\n")
    status, message = refuse(tracelink, trace, "1513")
    assert status == 2
    assert "1514" in message
