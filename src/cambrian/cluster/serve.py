"""``cambrian worker``: offers this machine's cores to a cluster, as Dask workers with one thread each."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from distributed import Security
from distributed.system import MEMORY_LIMIT

from cambrian import paths
from cambrian.cluster.coordinator import OVERHEAD_MB
from cambrian.cluster.deploy import ADDRESS, SETTINGS, check_keys
from cambrian.run import pool
from cambrian.run.pool import EngineError
from cambrian.trial.boot import MEMORY_MB

#: how long a worker looks for its scheduler before it ends
_PATIENCE_S = 60


def jobs_that_fit() -> int:
    """One worker a core, if the memory is enough for so many guests without a browser.

    Raises:
        EngineError: it is not enough for one.
    """
    fit = MEMORY_LIMIT // ((MEMORY_MB + OVERHEAD_MB) * 10**6)
    if fit < 1:
        raise EngineError(
            f"a worker needs {MEMORY_MB + OVERHEAD_MB} MB, and {MEMORY_LIMIT // 10**6} MB are here"
        )
    return int(min(len(pool.cores()), fit))


def serve(address: str, jobs: int, keys: tuple[Path, Path, Path] | None) -> NoReturn:
    """Become Dask's program for workers; it restarts a worker that dies and ends with its scheduler.

    ``jobs`` 0: as many as fit. ``keys``: files of the certificate authority, the certificate and its key.

    Raises:
        EngineError: ``address`` is none, the memory is not enough for one worker, or ``tls://`` lacks keys or
            their files.
    """
    if not ADDRESS.fullmatch(address):
        raise EngineError(
            f"{address} is no scheduler's address; remedy: give tcp://HOST:PORT or tls://HOST:PORT"
        )
    if keys is None:
        check_keys(address, Security(), "worker", "give --tls-ca-file, --tls-cert and --tls-key")
    if lacking := [str(path) for path in keys or () if not path.is_file()]:
        raise EngineError(f"there is no file {', '.join(lacking)}; remedy: correct the path")
    jobs = jobs or jobs_that_fit()
    argv = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1"]
    argv += ["--nworkers", str(jobs), "--memory-limit", str(MEMORY_LIMIT // jobs), "--no-dashboard"]
    argv += ["--death-timeout", str(_PATIENCE_S), "--local-directory", str(paths.cache() / "cluster")]
    for option, path in zip(("--tls-ca-file", "--tls-cert", "--tls-key"), keys or (), strict=False):
        argv += [option, str(path)]
    settings = {_variable(key): str(value) for key, value in SETTINGS.items()}
    os.execve(sys.executable, argv, os.environ | settings)  # noqa: S606


def _variable(key: str) -> str:
    """The environment variable that Dask reads for one of its settings."""
    return "DASK_" + key.upper().replace(".", "__").replace("-", "_")
