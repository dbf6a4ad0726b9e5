"""What ``--clock host`` needs of this machine, and what it refuses; tried with bubblewrap itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from cambrian.doctor import checks
from cambrian.kernel.model import KernelError
from cambrian.study.model import Trial
from cambrian.trial import boot, host_clock, wall

TRIAL: dict[str, Any] = {
    "network": {"rate_mbps": 5, "rtt_ms": 40, "buffer_bdp": 1},
    "flows": [{"contestant": {"stack": "tcp", "cca": "cubic"}}],
    "duration_s": 6,
    "clock": "host",
}
SLOW = {"per_packet_us": 10, "per_syscall_us": 10}


@pytest.mark.skipif("netem" not in host_clock.problems(), reason="this kernel has netem, or no namespaces")
def test_a_kernel_without_netem_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "trial.json").write_text(Trial.model_validate(TRIAL).model_dump_json())
    answer = subprocess.run(
        [sys.executable, "-m", "cambrian", "trial", "trial.json", "--out", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 2
    assert "--clock host: this host has no netem" in answer.stderr
    assert "remedy: modprobe sch_netem" in answer.stderr
    assert not (tmp_path / "out").exists()


def test_what_is_missing_is_one_line_with_one_remedy_in_doctor() -> None:
    row = checks.check_host_clock({"netem": "NetlinkError: no such file; remedy: modprobe sch_netem"})
    assert (row.state, row.remedy) == ("warn", "modprobe sch_netem")
    assert "no netem" in row.found
    assert checks.check_host_clock({}).state == "ok"


def test_without_bubblewrap_nothing_runs_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    host_clock.problems.cache_clear()
    try:
        with pytest.raises(KernelError, match="apt-get install bubblewrap"):
            host_clock.kernel()
    finally:
        host_clock.problems.cache_clear()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"kernel_settings": {"tcp_cubic.beta": 717}}, "kernel_settings"),
        ({"network": {"trace_file": "a.trace", "rtt_ms": 40, "buffer_bdp": 1}}, "trace-driven"),
        (
            {"flows": [{"contestant": {"stack": "tcp", "cca": "cubic", "receiver_cpu": SLOW}}]},
            "receiver_cpu is a model in virtual time",
        ),
    ],
)
def test_what_needs_a_guest_is_refused(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Trial.model_validate(TRIAL | change)


def test_a_program_of_the_agent_has_no_capability(tmp_path: Path) -> None:
    around = wall.installed()
    if around.program is None:
        pytest.skip(around.why)
    script = "grep Cap /proc/self/status; mount -t tmpfs none /tmp && echo mounted"
    for through, capable in (((), True), (wall.UNPRIVILEGED, False)):
        command = wall.host_command(
            around,
            [*through, "/bin/sh", "-c", script],
            readable=boot.host_folders(),
            out=tmp_path,
            status=None,
        )
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        effective = next(line for line in answer.stdout.splitlines() if line.startswith("CapEff"))
        assert (int(effective.split()[1], 16) != 0) == capable, answer
        assert ("mounted" in answer.stdout) == capable, answer


def test_a_program_of_the_agent_reaches_no_setting_of_the_kernel(tmp_path: Path) -> None:
    """As root of the machine it could write some of them without any capability."""
    around = wall.installed()
    if around.program is None:
        pytest.skip(around.why)
    knob = "/proc/sys/kernel/core_pattern"
    agent = f"""
import subprocess, sys
sys.path[:0] = ["/run/cambrian/source", "/run/cambrian/site-packages"]
from cambrian.testbed import host
assert open("{knob}").read()
host.seal()
look = "ls /proc; cat {knob}; umount /proc && cat {knob}"
subprocess.run([*{wall.UNPRIVILEGED!r}, "/bin/sh", "-c", look])
"""
    command = wall.host_command(
        around,
        [str(boot.interpreter()), "-I", "-S", "-c", agent],
        readable=boot.host_folders(),
        out=tmp_path,
        status=None,
    )
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    seen = answer.stdout.split()
    assert {"self", "thread-self"} <= set(seen), answer
    assert all(name.isdecimal() for name in set(seen) - {"self", "thread-self"}), answer
