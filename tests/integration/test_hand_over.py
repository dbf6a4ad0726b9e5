"""However the kernel learns of a system call, programs see the same; the fast way is in use."""

from __future__ import annotations

import platform
import subprocess
import time
from pathlib import Path

import pytest

from cambrian.kernel import boot, locate
from cambrian.kernel.source import version_numbers
from tests.integration.boots import first_program, first_script, output
from tests.integration.conftest import own_core

#: the first with SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
NEEDS = (5, 19)
OFF = {"cambrian.notify": 0}


@pytest.fixture(scope="module")
def init(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The check of calls, registers, threads, signals, tracers, filters and ends."""
    return first_program("hand_over_check", tmp_path_factory.mktemp("hand-over"))


def test_notifications_signals_and_ptrace_give_the_same_result(init: Path, tmp_path: Path) -> None:
    kernel = locate.ensure()
    by_notifications = output(kernel, init, tmp_path / "notifications")
    assert "done" in by_notifications
    assert "alone: 0 registers changed" in by_notifications
    assert by_notifications == output(kernel, init, tmp_path / "signals", settings=OFF)
    assert by_notifications == output(kernel, init, tmp_path / "ptrace", seccomp=False)


@pytest.mark.long
def test_in_real_time_no_call_is_interrupted(tmp_path: Path) -> None:
    lines = output(
        locate.ensure(), first_program("real_time_check", tmp_path), tmp_path / "run", clock="real"
    )
    assert "failed 0" in lines


@pytest.mark.skipif(
    version_numbers(platform.release()) < NEEDS, reason="this host's Linux has no such notifications"
)
@pytest.mark.parametrize(("settings", "is_used"), [({}, True), (OFF, False)])
def test_notifications_are_in_use_where_the_host_has_them(
    settings: dict[str, int], is_used: bool, tmp_path: Path
) -> None:
    init = first_script("i=0; while [ $i -lt 100000 ]; do kill -0 $$; i=$((i+1)); done", tmp_path)
    (tmp_path / "run").mkdir()
    with own_core() as core:
        argv = boot.command(
            locate.ensure(), init=init, run_directory=tmp_path / "run", core=core, settings=settings
        )
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as guest:
            # a listener is there from the first program on: half a second is usual
            found = _ever_has_listener(guest, 10 if is_used else 2)
            guest.kill()
    assert found == is_used


def _ever_has_listener(guest: subprocess.Popen[bytes], patience_s: float) -> bool:
    """Whether the guest's kernel opens a listener for notifications within its first seconds."""
    end_s = time.monotonic() + patience_s
    while guest.poll() is None and time.monotonic() < end_s:
        for descriptor in Path(f"/proc/{guest.pid}/fd").iterdir():
            try:
                if "seccomp" in str(descriptor.readlink()):
                    return True
            except FileNotFoundError:
                continue
        time.sleep(0.01)
    return False
