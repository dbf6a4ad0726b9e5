"""The guest's kernel counts the programs' entries, has few page faults, and ends after a panic."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.speed import counts, trials

from cambrian.kernel import boot, locate
from cambrian.stacks import build, catalogue
from cambrian.store.results import TrialResult
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trial import guest_packages
from tests.integration.boots import first_program, output
from tests.integration.conftest import RunTrials, duel, flow, own_core

ROOT = Path(__file__).parents[2]


def test_entries_are_counted_and_memory_comes_in_blocks(tmp_path: Path) -> None:
    init = first_program("entries_check", tmp_path)
    lines = output(locate.ensure(), init, tmp_path / "run")
    assert "getppid 1000 0" in lines
    assert "dup 100 100" in lines
    # 1,024 pages
    assert "page faults 64" in lines


def test_the_manifest_has_the_counts_of_each_side(run_trials: RunTrials) -> None:
    one = Flow(contestant=Contestant(stack="tcp", cca="cubic"))
    trial = Trial(network=Network(rate_mbps=10, rtt_ms=20, buffer_bdp=1), flows=(one,), duration_s=2)
    first, second = (run_trials([trial], place)[0] for place in ("first", "second"))
    assert set(_entries(first)) == {"flow0.sender", "flow0.receiver"}
    for side in _entries(first).values():
        assert sum(made for made, _ in side["calls"].values()) > 20
        assert side["page_faults"] > 20
    assert _entries(first) == _entries(second)


def _entries(result: TrialResult) -> dict[str, Any]:
    return {
        name: process["kernel_entries"]
        for name, process in result.manifest["guest"]["processes"].items()
        if "kernel_entries" in process
    }


def _built_in_ci(name: str) -> bool:
    return name.partition(":")[0] in counts.BUILT_IN_CI


IN_CI = [name for name in trials.every_stack() if _built_in_ci(name)]
#: the counts of the others take a minute together, where they are built
OTHERS = [name for name in trials.every_stack() if not _built_in_ci(name)]


def test_no_stack_enters_the_kernel_more_often_than_it_did() -> None:
    answer = _speed("--only", "counts", "--check", *IN_CI)
    assert answer.returncode == 0, answer.stderr
    assert all(name in answer.stdout for name in IN_CI)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_nor_does_any_other_stack(name: str) -> None:
    stack = name.partition(":")[0]
    if build.status(catalogue.load()[stack]).state != "built":
        pytest.skip(f"{stack} is not built here: cambrian stacks build {stack}")
    answer = _speed("--only", "counts", "--check", name)
    assert answer.returncode == 0, answer.stderr


@pytest.mark.long
def test_two_checkouts_are_compared_with_each_other(tmp_path: Path) -> None:
    (tmp_path / ".venv").symlink_to(sys.prefix)
    answer = _speed("--only", "empty", "--repeats", "1", "--against-checkout", str(tmp_path))
    assert answer.returncode == 0, answer.stderr
    assert "the other checkout" in answer.stdout
    assert "the same" in answer.stdout


def _speed(*words: str) -> subprocess.CompletedProcess[str]:
    """The benchmark on a core of its own."""
    with own_core() as core:
        command = [sys.executable, "-m", "benchmarks.speed", "--core", str(core), *words]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def test_the_agent_s_own_work_moves_no_packet(
    run_trials: RunTrials, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = duel(flow("quinn", "cubic"), flow("tcp", "cubic", start_ms=300))
    busier = tmp_path / "testbed"
    shutil.copytree(guest_packages.testbed(), busier, ignore=shutil.ignore_patterns("__pycache__"))
    agent = busier / "cambrian" / "testbed" / "guest.py"
    before = "        import_everything()\n"
    work = (
        "        for _ in range(30_000): os.getppid()\n        for _ in range(100): os.path.exists('/none')\n"
    )
    assert before in agent.read_text()
    agent.write_text(agent.read_text().replace(before, before + work))
    usual = run_trials([trial], "usual")[0]
    monkeypatch.setattr(guest_packages, "testbed", lambda: busier)
    other = run_trials([trial], "busier")[0]
    assert other.manifest["packets_sha256"] == usual.manifest["packets_sha256"]


@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare here")
def test_a_panic_ends_the_first_process_of_a_namespace(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with own_core() as core:
        argv = boot.command(
            locate.ensure(),
            # the first program may not end
            init=Path("/bin/true"),
            run_directory=tmp_path / "run",
            memory_mb=128,
            seed=1,
            clock="virtual",
            core=core,
            seccomp=True,
        )
        command = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", *argv]
        answer = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
        )
    assert "Kernel panic - not syncing: Attempted to kill init!" in answer.stdout + answer.stderr
    assert answer.returncode == 128 + 6
