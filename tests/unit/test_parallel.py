"""Work on all cores ends with the process that asked for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from cambrian import parallel

#: an item's work: leave the worker's number in a folder, then be busy for long
WORK = """
import os, time
from pathlib import Path

def work(folder):
    Path(folder, str(os.getpid())).touch()
    time.sleep(600)
"""
PROGRAM = """
import sys
from cambrian import parallel
from work import work

parallel.mapped(work, [sys.argv[1]] * 30, what="items")
"""
#: as a user's script: nothing in it depends on __name__
SCRIPT = """
print("began")
from cambrian import parallel

print(sum(parallel.mapped(abs, list(range(-30, 0)), what="items")))
"""
#: as the command line; to cancel an item takes as long as to cancel all items of large results
COMMAND = """
import concurrent.futures
import sys
import time

from cambrian import cli, parallel
from cambrian.__main__ import main
from work import work

class Slow(concurrent.futures.Future):
    def cancel(self):
        found = super().cancel()
        time.sleep(0.2)
        return found

concurrent.futures._base.Future = Slow
cli.command = lambda: lambda: parallel.mapped(work, [sys.argv[1]] * 30, what="items")
main()
"""
#: as the command line, between the work of two calls
BETWEEN = """
import sys
import time
from pathlib import Path

from cambrian import cli, parallel
from cambrian.__main__ import main

def command():
    parallel.mapped(abs, list(range(30)), what="items")
    for process in parallel._processes(parallel._kept[0]):
        Path(sys.argv[1], str(process.pid)).touch()
    time.sleep(600)

cli.command = lambda: command
main()
"""
PATIENCE_S = 60
QUIET = Console(quiet=True)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(what: str, seen: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not seen():
        assert time.monotonic() < deadline_s, what
        time.sleep(0.05)


def test_results_are_in_order() -> None:
    assert parallel.mapped(abs, list(range(-30, 0)), what="items", console=QUIET) == list(range(30, 0, -1))


def workers() -> set[int]:
    """The workers that a call has, by their numbers."""
    return set(parallel.mapped(getpid_of, list(range(60)), what="items", console=QUIET))


def getpid_of(item: int) -> int:
    # long enough for the other worker to take the next item
    time.sleep(0.02)
    return os.getpid()


def failing(item: int) -> None:
    raise ValueError(item)


def test_workers_are_kept_for_the_next_call_of_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    with parallel.kept_workers():
        first = workers()
        assert workers() <= first
        # a worker knows the variables of its start alone
        monkeypatch.setenv("CAMBRIAN_STACKS", "/other")
        others = workers()
        assert not others & first and not any(map(runs, first))
        # as the kernel does where memory is short
        os.kill(next(iter(others)), signal.SIGKILL)
        until("the worker ended", lambda: not all(map(runs, others)))
        after = workers()
        assert not after & others
        with pytest.raises(ValueError, match="0"):
            parallel.mapped(failing, list(range(30)), what="items", console=QUIET)
        assert not any(map(runs, after))
        last = workers()
        parallel.end_kept()
        assert not any(map(runs, last))
        last = workers()
    assert last and not any(map(runs, last))
    assert not any(map(runs, workers()))


def test_a_script_without_a_guard_runs_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    ended = subprocess.run(
        [sys.executable, script], check=False, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert (ended.returncode, ended.stdout) == (0, "began\n465\n"), ended.stderr


@pytest.mark.parametrize("command", [COMMAND, BETWEEN], ids=["working", "waiting"])
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_an_interrupted_command_ends_at_once_and_without_a_traceback(
    tmp_path: Path, number: signal.Signals, status: int, command: str
) -> None:
    """A terminal sends Ctrl-C to the workers too, and `timeout` sends them SIGTERM."""
    program, folder = tmp_path / "program.py", tmp_path / "workers"
    (tmp_path / "work.py").write_text(WORK)
    program.write_text(command)
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, str(program), str(folder)], stderr=subprocess.PIPE, text=True, process_group=0
    ) as process:
        jobs = len(os.sched_getaffinity(0))
        until("the workers started", lambda: len(list(folder.iterdir())) == jobs)
        workers = [int(path.name) for path in folder.iterdir()]
        os.killpg(process.pid, number)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, said) == (status, "cambrian: interrupted\n")
    assert not any(map(runs, workers))


def test_workers_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    program, folder = tmp_path / "program.py", tmp_path / "workers"
    (tmp_path / "work.py").write_text(WORK)
    program.write_text(PROGRAM)
    folder.mkdir()
    process = subprocess.Popen([sys.executable, str(program), str(folder)], stderr=subprocess.DEVNULL)
    jobs = len(os.sched_getaffinity(0))
    until("the workers started", lambda: len(list(folder.iterdir())) == jobs)
    workers = [int(path.name) for path in folder.iterdir()]
    assert all(runs(pid) for pid in workers)
    process.send_signal(signal.SIGKILL)
    process.wait()
    until("the workers ended", lambda: not any(runs(pid) for pid in workers))
