"""Finds the cluster of ``--cluster``: one on this machine, one that runs, or one that a file describes."""

from __future__ import annotations

import importlib
import logging
import os
import re
import ssl
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, time
from http.client import HTTPException
from math import isinf
from pathlib import Path
from typing import Any

import dask
import distributed
from distributed.deploy.cluster import Cluster as Deployment
from pydantic import Field

from cambrian import paths
from cambrian.cluster.coordinator import Cluster, say
from cambrian.run import pool
from cambrian.run.pool import EngineError
from cambrian.study.model import Frozen
from cambrian.study.positions import Path as Place
from cambrian.study.toml_file import TomlFile

_DOCS = "docs/how-to/run-on-a-cluster.md"
#: how long a cluster that was started here may take to end
_CLOSE_S = 20.0
#: how long its live page may take to answer
_PAGE_S = 5.0
_LOCAL = re.compile(r"local(?::([1-9][0-9]{0,3}))?")
ADDRESS = re.compile(r"^(tcp|tls)://\S+:[0-9]+$")
_REMEDY = "give local, local:N, tcp://HOST:PORT, tls://HOST:PORT, or a TOML file"
_KEYS_REMEDY = "give a TOML file with this address and a table [security]"
#: the run itself repeats the trials of lost workers. The other settings leave processor time to the trials:
#: Dask has no profiler, and looks at its event loops, the machine and the memory once a second
SETTINGS = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "1s",
    "distributed.worker.memory.monitor-interval": "1s",
}


class Keys(Frozen):
    """Files for ``tls://``, as PEM; a cluster that is started needs those of scheduler and workers too."""

    tls_ca_file: str
    tls_client_cert: str
    tls_client_key: str
    tls_scheduler_cert: str | None = None
    tls_scheduler_key: str | None = None
    tls_worker_cert: str | None = None
    tls_worker_key: str | None = None


class Description(Frozen):
    """A file about a cluster: one that runs (``address``), or one to start (``class``, ``workers``)."""

    address: str | None = Field(default=None, pattern=ADDRESS.pattern)
    deployment: str | None = Field(default=None, alias="class", pattern=r"^\w+(\.\w+)+$")
    workers: int | None = Field(default=None, ge=1, le=10_000)
    options: dict[str, Any] = Field(default_factory=dict)
    security: Keys | None = None


@contextmanager
def opened(text: str) -> Iterator[Cluster]:
    """The cluster that ``--cluster`` names, as long as the block lasts.

    Raises:
        EngineError: there is none, or it cannot be started.
        StudyError: the file that describes it is wrong.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    failures = _Failures()
    with (
        failures.heard(),
        dask.config.set({**SETTINGS, "temporary-directory": str(paths.cache() / "cluster")}),
    ):
        deployment, address, security = _found(text)
        try:
            with distributed.Client(deployment or address, security=security, set_as_default=False) as client:
                if (page := _page(client)) is not None:
                    say(f"the cluster's live page: {page}")
                yield Cluster(client, failures.texts)
        except (OSError, TimeoutError) as error:
            if isinstance(error, OSError) and error.filename is not None:
                raise
            raise EngineError(f"--cluster {text}: {error}") from error
        finally:
            if deployment is not None:
                # Dask's assertion fails for a worker that could not be started
                with suppress(AssertionError):
                    deployment.close(timeout=_CLOSE_S)


def _page(client: distributed.Client) -> str | None:
    """The address of the live page; None without one. Many schedulers name an address without a page."""
    # a proxy for the Internet may refuse an address of the cluster
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        page: str = client.dashboard_link
        with direct.open(page, timeout=_PAGE_S):
            return page
    except (OSError, HTTPException, LookupError, ValueError, AttributeError):
        # Dask's own: no service of that name, an empty address, None
        return None


class _Failures(logging.Handler):
    """Keeps what Dask's deployment libraries report of workers that they could not start.

    They start workers in the background, where Tornado and asyncio log an error with its traceback.
    """

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep an error's text."""
        if record.exc_info and record.exc_info[1] is not None:
            self.texts.append(str(record.exc_info[1]).strip())

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Listen to both, in place of standard error."""
        loggers = [logging.getLogger(name) for name in ("tornado.application", "asyncio")]
        before = [(logger.handlers, logger.propagate) for logger in loggers]
        for logger in loggers:
            logger.handlers, logger.propagate = [self], False
        try:
            yield
        finally:
            for logger, (handlers, propagate) in zip(loggers, before, strict=True):
                logger.handlers, logger.propagate = handlers, propagate


def _found(text: str) -> tuple[Any, str | None, Any]:
    """Dask's cluster that was started, or the address of one that runs; and its keys."""
    if local := _LOCAL.fullmatch(text):
        return _local(int(local[1]) if local[1] else len(pool.cores())), None, None
    address, described, security = _asked(text)
    return None if described is None else _started(*described, security), address, security


def check(text: str) -> None:
    """Check what ``--cluster`` names, without a cluster: the form of an address, and all that a file says.

    Raises:
        EngineError: there is no such cluster.
        StudyError: the file that describes it is wrong.
    """
    if _LOCAL.fullmatch(text):
        return
    _, described, _ = _asked(text)
    if described is not None:
        _class(*described)


def _asked(text: str) -> tuple[str | None, tuple[TomlFile, Description] | None, Any]:
    """The address of a cluster that runs, or what a file says of one to start; and its keys."""
    described, security = None, None
    if ADDRESS.fullmatch(text):
        address: str | None = text
    elif text.endswith(".toml"):
        file, asked = _read(Path(text))
        address, security = asked.address, _security(file, asked)
        described = None if address else (file, asked)
    else:
        raise EngineError(f"--cluster {text}: {_REMEDY}")
    if address:
        check_keys(address, security or distributed.Security(), "client", _KEYS_REMEDY)
    return address, described, security


def _security(file: TomlFile, asked: Description) -> Any:
    """The keys that the description names; None without any."""
    if not asked.security:
        return None
    return distributed.Security(require_encryption=True, **_files(file, asked.security))


def _files(file: TomlFile, keys: Keys) -> dict[str, str]:
    """Name → file of the keys that are given, relative to the folder of the description."""
    given: dict[str, str] = keys.model_dump(exclude_none=True)
    places = {name: str(file.path.parent / place) for name, place in given.items()}
    for name, place in places.items():
        if not os.path.isfile(place):  # noqa: PTH113 - a name may be too long for a path
            raise file.error(("security", name), f"there is no file {place}", "correct the path")
    return places


def check_keys(address: str, security: Any, role: str, remedy: str) -> None:
    """Check that there are keys for ``tls://``; ``role`` is Dask's name of this end of the connection.

    Raises:
        EngineError: there are none, or they cannot be used; it has the remedy.
    """
    if not address.startswith("tls:"):
        return
    try:
        keys = security.get_connection_args(role)["ssl_context"]
    except ssl.SSLError as error:
        # it names no file
        problem = f"the certificate or the key for {address} cannot be used: {error}"
        raise EngineError(f"{problem}; remedy: {remedy} ({paths.page(_DOCS)})") from error
    if keys is None:
        raise EngineError(
            f"{address} needs a certificate and its key; remedy: {remedy} ({paths.page(_DOCS)})"
        )


def _local(workers: int) -> Any:
    """Workers on this machine. Temporary keys: every user of the machine can reach a port of 127.0.0.1."""
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        security=True,
        silence_logs=logging.CRITICAL,
    )


def description(path: Path) -> Description:
    """The cluster that a file describes.

    Raises:
        StudyError: the file is wrong; with line, key and remedy.
    """
    return _read(path)[1]


def _read(path: Path) -> tuple[TomlFile, Description]:
    file = TomlFile(path, _DOCS, called="the cluster", if_unread=_REMEDY)
    asked = file.build(Description, (), file.raw)
    file.refuse(_no_options(("options",), file.raw.get("options", {})))
    if (asked.address is None) == (asked.deployment is None):
        raise file.error((), "give either address or class", "keep one of them")
    if asked.address and (asked.workers or asked.options):
        key = "workers" if asked.workers else "options"
        raise file.error((key,), "workers and options belong to class", "delete it, or give class")
    return file, asked


def _no_options(place: Place, value: object) -> Iterator[tuple[Place, str, str]]:
    """Place, problem and remedy of what JSON, and so the description, does not have."""
    if isinstance(value, (dict, list)):
        for step in value if isinstance(value, dict) else range(len(value)):
            yield from _no_options((*place, step), value[step])
    elif isinstance(value, (date, time)):
        yield place, f"{value} is a date or a time", f'put it in quotes: "{value}"'
    elif isinstance(value, float) and isinf(value):
        yield place, "this number is infinite", "give a finite number"


def _started(file: TomlFile, asked: Description, security: Any) -> Any:
    """The cluster of a class of Dask's deployment libraries, with its workers asked for."""
    kind = _class(file, asked)
    options: Mapping[str, Any] = {**asked.options, **({"security": security} if security else {})}
    try:
        deployment = kind(**options)
        if asked.workers is not None:
            deployment.scale(asked.workers)
    except (TypeError, ValueError, RuntimeError) as error:
        # the class names its argument, if it does at all, in words of its own
        problem = str(_first(error)) or str(error) or type(_first(error)).__name__
        words = re.findall(r"\w+", problem)
        named = [("options", name) for name in asked.options if name in words]
        place: Place = named[0] if named else ("options",)
        remedy = f"correct the options; they are the arguments of {asked.deployment}"
        raise file.error(place, problem, remedy) from error
    return deployment


def _first(error: BaseException) -> BaseException:
    """The error that made the others: Dask tells of a worker that did not start, and this tells why."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _class(file: TomlFile, asked: Description) -> Any:
    """The class of one of Dask's deployment libraries."""
    deployment = asked.deployment
    assert deployment is not None
    module, _, name = deployment.rpartition(".")
    try:
        kind = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise file.error(("class",), str(error), f"install the package that has {deployment}") from error
    # SSHCluster is a function, whose workers are its hosts
    if kind is not distributed.SSHCluster and not (isinstance(kind, type) and issubclass(kind, Deployment)):
        remedy = f"give one that is, such as dask_jobqueue.SLURMCluster; {paths.page(_DOCS)} has examples"
        raise file.error(("class",), f"{deployment} is no cluster of Dask's", remedy)
    return kind
