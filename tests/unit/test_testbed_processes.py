"""What the agent knows of a program's end."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from cambrian.testbed import processes
from cambrian.testbed.processes import Process


def started(*argv: str) -> Process:
    pid = os.posix_spawn(argv[0], argv, {}, setsid=True)
    return Process("flow0.receiver", pid, os.pidfd_open(pid), Path(os.devnull), 0)


@pytest.mark.parametrize("itself", [True, False])
def test_the_agent_notes_what_it_has_stopped(itself: bool) -> None:
    process = started("/bin/sleep", "60")
    if itself:
        # as the kernel does when memory runs out
        os.kill(process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert processes.stop([process]) == []
    assert process.status == (-signal.SIGKILL if itself else -signal.SIGTERM)
    assert process.stopped is not itself


@pytest.mark.parametrize(
    ("script", "how"), [("exit 3", "ended with status 3"), ("kill -9 $$", "was killed by signal 9 (Killed)")]
)
def test_how_a_program_ended_before_it_was_ready(script: str, how: str) -> None:
    process = started("/bin/sh", "-c", script)
    why = processes.wait_ready(process, {"argv": [], "environment": {}, "work": "/", "ready": "json"}, None)
    assert why == f"flow0.receiver {how} before it was ready"
