"""A run on a Dask cluster leaves what a run on one machine leaves, whatever happens to its workers."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import distributed
import pytest

from cambrian import paths
from cambrian.store.content import content
from tests.integration import guests
from tests.integration.runs import start

pytestmark = pytest.mark.long

STUDY = """
name = "cluster"
title = "Four short trials"
design = "solo"
duration_s = 3
seeds = 2
start_spread_ms = 100
[[network]]
rate_mbps = 10
rtt_ms = 40
buffer_bdp = [0.5, 1]
[[contestant]]
stack = "tcp"
cca = "cubic"
"""
PATIENCE_S = 300


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "cluster.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def alone(study: Path) -> dict[str, str]:
    """What a run on one core leaves."""
    out = study.parent / "alone"
    run = start(study, out)
    _, said = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, said
    found = content(out)
    assert sum(name.endswith("verdict.json") for name in found) == 4
    return found


def _wait_for(what: Callable[[], list[int]]) -> list[int]:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.01)
    raise AssertionError("nothing to disturb")


def test_a_worker_killed_in_the_middle_costs_nothing_but_time(
    study: Path, tmp_path: Path, alone: Mapping[str, str]
) -> None:
    out = tmp_path / "out"
    run = start(study, out, ("--cluster", "local:2"))
    guest = _wait_for(lambda: guests.kernels_of(run.pid))[0]
    family = guests.ancestors(guest)
    # bubblewrap, the process of the trial, Dask's worker
    worker = family[family.index(run.pid) - 1]
    os.kill(worker, signal.SIGKILL)
    _, said = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, said
    assert "a trial runs again: its worker was lost" in said
    assert "the cluster's live page: http" in said
    assert content(out) == alone
    assert not guests.alive(set(family[: family.index(run.pid)]))
    assert not list((out / "trials").glob(".*"))


@contextmanager
def _cluster(
    folder: Path, keys: Sequence[str] = ()
) -> Iterator[tuple[str, Callable[..., subprocess.Popen[bytes]]]]:
    """A scheduler, and a function that adds a worker with variables of its own and waits for it.

    ``keys``: options of both for ``tls://``.
    """
    started: list[subprocess.Popen[bytes]] = []

    def program(argv: list[str], variables: Mapping[str, str], ready: bytes) -> subprocess.Popen[bytes]:
        place = folder / f"{len(started)}.log"
        with place.open("wb") as log:
            process = subprocess.Popen(
                argv, env=os.environ | variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        started.append(process)
        _wait_for(lambda: [process.pid] if ready in place.read_bytes() else [])
        return process

    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"{'tls' if keys else 'tcp'}://127.0.0.1:{free.getsockname()[1]}"
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", address, "--no-dashboard"]
    scheduler += keys

    def worker(**variables: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "cambrian", "worker", address, "--jobs", "1", *keys]
        return program(argv, variables, b"Registered to:")

    try:
        program(scheduler, {}, b"Scheduler at:")
        yield address, worker
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(timeout=PATIENCE_S)


def test_a_worker_gets_what_it_lacks_and_one_with_other_code_is_refused(
    study: Path, tmp_path: Path, alone: Mapping[str, str]
) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(paths.data() / "src", checkout / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("kernel", "stacks"):
        (checkout / name).symlink_to(paths.data() / name)
    with (checkout / "src/cambrian/trial/read.py").open("a") as file:
        file.write("\n# another reader\n")
    empty = tmp_path / "cache"
    with _cluster(tmp_path) as (address, worker):
        worker(PYTHONPATH=str(checkout / "src"))
        same = worker(CAMBRIAN_CACHE=str(empty))
        run = start(study, tmp_path / "out", ("--cluster", address))
        _, said = run.communicate(timeout=PATIENCE_S)
        assert run.returncode == 0, said
        assert "its code differs from the coordinator's" in said
        assert said.count("cambrian: sending ") == 3
        assert content(tmp_path / "out") == alone
        # the worker built nothing
        assert not {path.name for path in empty.iterdir()} & {"kernel", "native", "stacks"}

        same.terminate()
        same.wait(timeout=PATIENCE_S)
        alone_and_refused = start(study, tmp_path / "refused", ("--cluster", address))
        _, said = alone_and_refused.communicate(timeout=PATIENCE_S)
        assert alone_and_refused.returncode == 2, said
        assert "no worker of the cluster can run these trials" in said


def test_a_cluster_with_keys_of_one_s_own(study: Path, tmp_path: Path, alone: Mapping[str, str]) -> None:
    made = distributed.Security.temporary()
    (tmp_path / "cert.pem").write_text(made.tls_ca_file)
    (tmp_path / "key.pem").write_text(made.tls_client_key)
    cert, key = (str(tmp_path / name) for name in ("cert.pem", "key.pem"))
    described = tmp_path / "cluster.toml"
    # the keys' paths are relative to the file
    security = 'tls_ca_file = "cert.pem"\ntls_client_cert = "cert.pem"\ntls_client_key = "key.pem"\n'
    with _cluster(tmp_path, ("--tls-ca-file", cert, "--tls-cert", cert, "--tls-key", key)) as (
        address,
        worker,
    ):
        worker()
        described.write_text(f'address = "{address}"\n[security]\n{security}')
        run = start(study, tmp_path / "out", ("--cluster", str(described)))
        _, said = run.communicate(timeout=PATIENCE_S)
        assert run.returncode == 0, said
        assert content(tmp_path / "out") == alone
        # whoever has no key is not let in
        without = start(study, tmp_path / "without", ("--cluster", address.replace("tls", "tcp")))
        _, said = without.communicate(timeout=PATIENCE_S)
        assert without.returncode == 2, said
        assert not (tmp_path / "without" / "trials").exists()


#: a class of a deployment library whose batch system refuses every worker
REFUSING = """
import distributed
from distributed.deploy.spec import ProcessInterface

class Job(ProcessInterface):
    def __init__(self, scheduler=None, name=None, **options):
        super().__init__(scheduler=scheduler, name=name)

    async def start(self):
        raise RuntimeError("no partition has this name")

class Refusing(distributed.SpecCluster):
    def __init__(self, security=None):
        scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": "127.0.0.1:0"}}
        super().__init__(scheduler=scheduler, worker={"cls": Job, "options": {}})
"""


def test_a_cluster_that_cannot_start_a_worker_ends_the_run(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "refusing.py").write_text(REFUSING)
    described = tmp_path / "cluster.toml"
    described.write_text('class = "refusing.Refusing"\nworkers = 2\n')
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}".rstrip(":"))
    run = start(study, tmp_path / "out", ("--cluster", str(described)))
    _, said = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 2, said
    assert said.splitlines()[-1] == (
        "cambrian: the cluster could not start a worker: no partition has this name"
    )
    assert "Traceback" not in said
