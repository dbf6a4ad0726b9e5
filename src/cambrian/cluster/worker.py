"""The part on each worker: proves that it is the same, gets what it lacks, carries out trials.

A trial runs in a process of its own, pinned to a core, as on one machine (:mod:`cambrian.run.local`). If the
worker dies, this process and its guest end with it. Source: Dask's documentation of worker plugins.
"""

from __future__ import annotations

import asyncio
import io
import multiprocessing
import platform
import shutil
import signal
import tempfile
import threading
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import distributed
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.system import MEMORY_LIMIT
from filelock import FileLock, Timeout

from cambrian.cluster import parcels
from cambrian.cluster.needed import Needed, Part, Refused
from cambrian.run.cores import Held, hold
from cambrian.run.local import Local
from cambrian.store import writing
from cambrian.store.results import Results
from cambrian.study.model import Trial
from cambrian.trial import carry_out
from cambrian.trial.boot import Disturbed
from cambrian.trial.carry_out import Outcome
from cambrian.trial.environment import Environment

#: Dask resources of a worker: one trial at a time, and its memory in MB
ONE_TRIAL = "cambrian"
MEMORY_MB = "cambrian-mb"
#: largest results of one trial that travel: they pass through the memory of worker, scheduler and coordinator
MOST_BYTES = 2**30
#: how long the coordinator may take to send the next piece of a part
_PATIENCE_S = 120.0
#: how often a part is asked for if it arrives damaged
_TRIES = 2


@dataclass(frozen=True)
class Returned:
    """A trial's outcome, and its folder as an archive."""

    outcome: Outcome
    folder: bytes


@dataclass
class _Incoming:
    """A part that is arriving."""

    file: BinaryIO
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    whole: bool = False


class Member(WorkerPlugin):
    """A worker's part in one run. Dask gives it to every worker, also to those that come later."""

    def __init__(self, needed: Needed) -> None:
        self.name = needed.topic
        self._needed = needed

    def setup(self, worker: Any) -> None:
        """Begin to join the run. It must not wait here: the worker answers nobody until this returns."""
        if threading.current_thread() is threading.main_thread():
            # a terminal sends Ctrl-C to workers too; they end with the run, and without a traceback each
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._worker = worker
        self._incoming: dict[str, _Incoming] = {}
        self._environment: Environment | None = None
        self._local: Local | None = None
        self._joining = asyncio.ensure_future(self._join())

    def teardown(self, worker: Any) -> None:
        """Leave the run."""
        self._joining.cancel()
        # it waits for a process, and the worker must answer meanwhile
        asyncio.get_running_loop().run_in_executor(None, self.end)

    async def _join(self) -> None:
        worker = self._worker
        try:
            await asyncio.to_thread(self._needed.check_code)
            folders = {part.digest: await self._have(part) for part in self._needed.parts()}
            self._environment = await asyncio.to_thread(self._needed.environment, folders)
            memory_mb = (worker.memory_manager.memory_limit or MEMORY_LIMIT) // 10**6
            # Dask starts its workers as daemons, which may have no children
            multiprocessing.current_process().daemon = False
            await worker.set_resources(**{ONE_TRIAL: 1, MEMORY_MB: memory_mb, self.name: 1})
        except Exception as error:
            why = str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}"
            worker.log_event(self.name, {"worker": worker.address, "refused": f"{platform.node()}: {why}"})
            return
        # the scheduler gives waiting trials to a worker that begins to run, not to one with new resources
        worker.status = distributed.Status.paused
        worker.status = distributed.Status.running
        worker.log_event(self.name, {"worker": worker.address, "memory_mb": memory_mb})

    async def _have(self, part: Part) -> Path:
        """The part's folder on this machine; from the coordinator if there is none."""
        home = await asyncio.to_thread(part.find)
        part.received.parent.parent.mkdir(parents=True, exist_ok=True)
        # of the workers that share a cache, one asks
        lock = FileLock(f"{part.received.parent}.lock", thread_local=False)
        while home is None:
            try:
                lock.acquire(timeout=0)
            except Timeout:
                await asyncio.sleep(0.2)
                continue
            try:
                home = await asyncio.to_thread(part.find) or await self._get(part)
            finally:
                lock.release()
        return home

    async def _get(self, part: Part) -> Path:
        problem = ""
        for _ in range(_TRIES):
            with tempfile.TemporaryFile(dir=part.received.parent.parent) as file:
                incoming = self._incoming[part.digest] = _Incoming(file)
                self._worker.log_event(self.name, {"worker": self._worker.address, "lacks": part.digest})
                try:
                    while not incoming.whole:
                        await asyncio.wait_for(incoming.arrived.wait(), _PATIENCE_S)
                        incoming.arrived.clear()
                    return await asyncio.to_thread(install, part, file)
                except TimeoutError:
                    problem = f"the coordinator sent nothing for {_PATIENCE_S:.0f} s"
                except parcels.Corrupt as error:
                    problem = str(error)
                finally:
                    del self._incoming[part.digest]
        raise Refused(f"it could not get {part.kind}/{part.name}: {problem}")

    def take(self, digest: str, piece: bytes, *, last: bool) -> None:
        """Take the next piece of a part."""
        incoming = self._incoming[digest]
        incoming.file.write(piece)
        incoming.whole = last
        incoming.arrived.set()

    def carry_out(self, trial: Trial, name: str) -> Returned:
        """Run a trial and return its results.

        Raises:
            Disturbed: its process or its guest was killed, or this machine's disk is full or closed.
            Refused: here it would be another trial, or its results are too large.
        """
        assert self._environment is not None
        results = Results(Path(self._worker.local_directory) / "trial")
        try:
            mine = carry_out.trial_id(trial, self._environment)
            if mine != name:
                raise Refused(
                    f"on {platform.node()} this would be the trial {mine}, not {name}: compare the browsers"
                )
            outcome = self._begin(results).submit(trial).result()
            archive = io.BytesIO()
            folder = results.trial(outcome.trial_id).folder
            parcels.pack(folder, archive)
            writing.remove(folder)
        except (BrokenProcessPool, CancelledError, KeyboardInterrupt):
            self.end()
            raise Disturbed("its worker was killed") from None
        except OSError as error:
            # not the coordinator's disk: another worker may succeed
            raise Disturbed(f"{platform.node()}: {error}") from None
        if archive.tell() > MOST_BYTES:
            raise Refused(f"its results have {archive.tell()} bytes; at most {MOST_BYTES} can be sent")
        return Returned(outcome, archive.getvalue())

    def _begin(self, results: Results) -> Local:
        """The process that runs this worker's trials."""
        assert self._environment is not None
        for run in _begun - {self}:
            # another run, whose coordinator may be dead; a worker runs one trial at a time
            run.end()
        if self._local is None:
            # what a killed process left
            writing.remove(results.folder)
            own = _own_core()
            core = own.cores[0] if own.cores else None
            self._local = Local([core], self._environment, results, self._needed.cpu_limit_s)
            _begun.add(self)
        return self._local

    def end(self) -> None:
        """End the running guest, if there is one, and the process that runs trials."""
        local, self._local = self._local, None
        _begun.discard(self)
        if local is not None:
            local.stop()
            local.close()


def carry_out_trial(topic: str, trial: Trial, name: str) -> Returned:
    """Dask's task: :meth:`Member.carry_out` on the worker that it runs on."""
    member = distributed.get_worker().plugins[topic]
    assert isinstance(member, Member)
    return member.carry_out(trial, name)


def take(topic: str, digest: str, piece: bytes, last: bool, dask_worker: Any) -> None:
    """:meth:`Member.take` on the worker that it is sent to."""
    dask_worker.plugins[topic].take(digest, piece, last=last)


def install(part: Part, archive: BinaryIO) -> Path:
    """Put a part that has arrived into the cache, if its content is what its address says.

    Raises:
        Corrupt: it is not.
    """
    place = part.received.parent
    fresh = Path(tempfile.mkdtemp(dir=place.parent, prefix="new-"))
    try:
        home = fresh / part.name
        home.mkdir(mode=0o755)
        fresh.chmod(0o755)
        archive.seek(0)
        parcels.unpack(archive, home, links=True)
        if parcels.digest(home, part.files) != part.digest:
            raise parcels.Corrupt(f"{part.kind}/{part.name} differs from its hash")
        # not sync_tree: a packaged tree has links to places that exist in the guest only
        for path in (fresh, *fresh.rglob("*")):
            if not path.is_symlink():
                writing.sync(path)
        writing.put(fresh, place)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return part.received


@cache
def _own_core() -> Held:
    """This process's core: a worker keeps one for all its runs. No core if all are taken."""
    return hold(1)


#: the runs that have a process here
_begun: set[Member] = set()
