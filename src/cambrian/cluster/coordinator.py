"""The coordinator's part: sends trials to a cluster's workers, and alone writes results to the store."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

import distributed
from distributed.comm.core import CommClosedError

from cambrian import paths
from cambrian.cluster import needed, parcels, worker
from cambrian.cluster.needed import Part
from cambrian.cluster.worker import MEMORY_MB, ONE_TRIAL, Member, Returned
from cambrian.run.pool import EngineError
from cambrian.store import sums
from cambrian.store.results import Results
from cambrian.study.model import Trial
from cambrian.trial import carry_out, page_loads
from cambrian.trial.boot import Disturbed
from cambrian.trial.carry_out import Outcome
from cambrian.trial.environment import Environment

#: a worker's own processes, in MB, besides its guest
OVERHEAD_MB = 512
#: how long a run waits for another worker if all that are there are refused
_GRACE_S = 10.0
#: trials wait for a worker that joins until it has been silent for so long; it gives up sooner itself
_JOIN_S = 300.0
#: how long workers may take to leave a run
_LEAVE_S = 10.0
#: size of the pieces in which a part is sent: at 50 Mbit/s, 170 workers get one in the time that one waits
_PIECE_BYTES = 4 * 2**20
#: errors of Dask for a task that its worker did not finish
_LOST = (
    distributed.scheduler.KilledWorker,
    distributed.client.FutureCancelledError,
    CommClosedError,
    TimeoutError,
)


@dataclass(frozen=True)
class Cluster:
    """An engine (:class:`cambrian.run.pool.Engine`): a connection to Dask's scheduler.

    ``failures`` grows with the errors of workers that could not be started.
    """

    client: Any
    failures: Sequence[str] = ()

    def places(self) -> int:
        """Workers that are connected now."""
        return len(_workers(self.client))

    def begin(self, environment: Environment, results: Results, cpu_limit_s: float | None) -> Crew:
        """The workers that have proved that they hold ``environment``; waits for the first.

        Raises:
            EngineError: every worker is refused, or none could be started.
        """
        crew = Crew(self.client, environment, results, cpu_limit_s)
        try:
            crew.wait_for_one(self.failures)
        except BaseException:
            crew.close()
            raise
        return crew


class Crew:
    """The workers of one run (:class:`cambrian.run.pool.Workers`)."""

    def __init__(
        self, client: Any, environment: Environment, results: Results, cpu_limit_s: float | None
    ) -> None:
        self._client = client
        self._environment = environment
        self._results = results
        self._needed, self._folders = needed.of(environment, cpu_limit_s)
        self._parts = {part.digest: part for part in self._needed.parts()}
        self._tasks = client.get_executor(pure=False, retries=0)
        # one thread writes results, one sends parts: neither holds up Dask's event loop
        self._writer = ThreadPoolExecutor(1, "results")
        self._sender = ThreadPoolExecutor(1, "parts")
        self._news = threading.Event()
        self._memory_mb: dict[str, int] = {}
        self._refused: dict[str, str] = {}
        #: when a worker that joins last said or got something
        self._seen_s: dict[str, float] = {}
        #: how often a worker has asked for a part; it asks for one at a time
        self._asks: dict[str, int] = {}
        #: digest → part as it is sent, and number of workers that get it
        self._archives: dict[str, IO[bytes]] = {}
        self._getting: Counter[str] = Counter()
        self._closed = False
        client.subscribe_topic(self._needed.topic, self._hear)
        client.register_plugin(Member(self._needed), name=self._needed.topic)

    def wait_for_one(self, failures: Sequence[str]) -> None:
        """Wait until a worker has proved itself. ``failures``: errors of workers that could not be started.

        Raises:
            EngineError: all that are connected are refused; or none is connected, and starting one failed.
        """
        told = False
        changed_s, before = time.monotonic(), None
        while not self._memory_mb:
            there = set(_workers(self._client))
            if there != before:
                changed_s, before = time.monotonic(), there
            if there and there <= set(self._refused) and time.monotonic() - changed_s > _GRACE_S:
                raise EngineError(
                    "no worker of the cluster can run these trials; remedy: use the same version of "
                    "Cambrian, Python and packages on every machine "
                    f"({paths.page('docs/how-to/run-on-a-cluster.md')})"
                )
            if failures and not there:
                raise EngineError(f"the cluster could not start a worker: {failures[-1]}")
            if not there and not told:
                told = True
                say(
                    "waiting for the cluster's first worker; one of yours joins with "
                    f"cambrian worker {self._client.scheduler.address}"
                )
            self._news.wait(1.0)
            self._news.clear()

    def places(self) -> int:
        """Workers that have proved themselves and are connected; 1 if there is none, to wait for one."""
        return max(1, len(self._connected_mb()))

    def _connected_mb(self) -> list[int]:
        """The memory of each worker that has proved itself and is connected."""
        there = _workers(self._client)
        return [memory_mb for address, memory_mb in self._memory_mb.copy().items() if address in there]

    def _joining(self) -> bool:
        """May a worker that is connected still prove itself? One that is silent for long does not count."""
        now_s = time.monotonic()
        silent_s = [
            now_s - self._seen_s.setdefault(address, now_s)
            for address in _workers(self._client)
            if address not in self._memory_mb and address not in self._refused
        ]
        return min(silent_s, default=_JOIN_S) < _JOIN_S

    def submit(self, trial: Trial) -> Future[Outcome]:
        """Run a trial on a worker with enough memory; waits while one that may have it joins."""
        mine: Future[Outcome] = Future()
        mine.set_running_or_notify_cancel()
        memory_mb = page_loads.memory_mb(trial) + OVERHEAD_MB
        # no longer than that: a worker that starts again and again joins for ever
        until_s = time.monotonic() + _JOIN_S
        # with none there, the trial waits for one that comes back
        while memory_mb > (most := max(self._connected_mb() or self._memory_mb.values())):
            if not self._joining() or time.monotonic() > until_s:
                break
            self._news.wait(1.0)
            self._news.clear()
        if memory_mb > most:
            mine.set_exception(EngineError(f"it needs {memory_mb} MB, and the largest worker has {most} MB"))
            return mine
        name = carry_out.trial_id(trial, self._environment)
        theirs = self._tasks.submit(
            worker.carry_out_trial,
            self._needed.topic,
            trial,
            name,
            resources={ONE_TRIAL: 1, MEMORY_MB: memory_mb, self._needed.topic: 1},
        )
        theirs.add_done_callback(lambda done: self._settle_later(done, mine, name))
        return mine

    def stop(self) -> None:
        """Forget the trials that have not ended, and end the running guests."""
        self._closed = True
        self._tasks.shutdown(wait=False)

    def close(self) -> None:
        """Leave the workers; their guests end."""
        self._closed = True
        with suppress(OSError, TimeoutError, ValueError):
            # workers that Ctrl-C reached too may never answer
            leave = self._client._unregister_worker_plugin
            self._client.sync(leave, name=self._needed.topic, callback_timeout=_LEAVE_S)
            self._client.unsubscribe_topic(self._needed.topic)
        self._sender.shutdown(cancel_futures=True)
        for archive in self._archives.values():
            archive.close()
        self._writer.shutdown(cancel_futures=True)

    def _settle_later(self, theirs: Future[Returned], mine: Future[Outcome], name: str) -> None:
        if not self._closed:
            self._writer.submit(self._settle, theirs, mine, name)

    def _settle(self, theirs: Future[Returned], mine: Future[Outcome], name: str) -> None:
        """Keep the results of the trial ``name``, whose task has ended, and pass on how it ended."""
        try:
            error = None if theirs.cancelled() else theirs.exception()
            if theirs.cancelled() or isinstance(error, _LOST):
                raise Disturbed("its worker was lost")
            mine.set_result(keep(theirs.result(), name, self._results))
        except BaseException as error:
            mine.set_exception(error)

    def _hear(self, event: tuple[float, Mapping[str, Any]]) -> None:
        """What a worker says; called in Dask's event loop."""
        _, said = event
        address = said["worker"]
        self._seen_s[address] = time.monotonic()
        if "lacks" in said:
            self._asks[address] = ask = self._asks.get(address, 0) + 1
            if not self._closed:
                self._sender.submit(self._send, address, self._parts[said["lacks"]], ask)
            return
        if "refused" in said:
            self._refused[address] = said["refused"]
            say(f"the worker {address} is refused: {said['refused']}")
        else:
            self._memory_mb[address] = said["memory_mb"]
        self._news.set()

    def _send(self, address: str, part: Part, ask: int, offset: int = 0) -> None:
        """Send the next piece of a part of this machine's cache to a worker.

        The other workers' pieces come between: a worker that got none for long would give up.
        """
        self._getting[part.digest] += not offset
        # one that has asked again gets the part from its beginning
        end = self._piece(address, part, offset) if self._asks[address] == ask else None
        if end is not None and not self._closed:
            self._sender.submit(self._send, address, part, ask, end)
            return
        self._getting[part.digest] -= 1
        if not self._getting[part.digest] and part.digest in self._archives:
            self._archives.pop(part.digest).close()

    def _piece(self, address: str, part: Part, offset: int) -> int | None:
        """Send the piece at ``offset``; where the next one begins, None if there is none to send."""
        if not offset:
            say(f"sending {part.kind}/{part.name} to {address}")
        try:
            if part.digest not in self._archives:
                # packed once for all workers that get it at this time
                fresh = tempfile.TemporaryFile()  # noqa: SIM115
                parcels.pack(self._folders[part.digest], fresh, part.files)
                self._archives[part.digest] = fresh
            archive = self._archives[part.digest]
            archive.seek(offset)
            piece = archive.read(_PIECE_BYTES)
            end = offset + len(piece)
            last = end == archive.seek(0, os.SEEK_END)
            self._client.run(worker.take, self._needed.topic, part.digest, piece, last, workers=[address])
        except Exception as error:
            # the worker went away, or has given up; if it still lacks the part, it asks again
            say(f"{address} did not get {part.kind}/{part.name}: {type(error).__name__}: {error}")
            return None
        self._seen_s[address] = time.monotonic()
        return None if last else end


def keep(returned: Returned, name: str, results: Results) -> Outcome:
    """Write the results of the trial ``name``, as its worker sent them, into the store.

    Raises:
        Disturbed: they arrived damaged, or are of another trial; nothing is written.
        OSError: the store cannot be written to.
    """
    outcome = returned.outcome
    if outcome.trial_id != name:
        raise Disturbed(f"its worker ran the trial {outcome.trial_id}, not {name}")
    with results.new_trial(outcome.trial_id) as folder:
        try:
            parcels.unpack(io.BytesIO(returned.folder), folder, links=False)
        except parcels.Corrupt as error:
            raise Disturbed(f"its results arrived damaged: {error}") from None
        for damage in sums.damage(folder, results.folder):
            raise Disturbed(f"its results arrived damaged: {damage.path.relative_to(folder)} {damage.why}")
        # its worker's clock may differ; a run's progress counts from this time
        os.utime(folder / "verdict.json")
    return outcome


def _workers(client: Any) -> Mapping[str, int]:
    """Address → threads of the workers that are connected.

    Raises:
        EngineError: the scheduler is gone.
    """
    try:
        found: Mapping[str, int] = client.nthreads()
    except (OSError, TimeoutError, ValueError) as error:
        raise EngineError(
            f"the cluster's scheduler does not answer ({error}); finished trials are kept"
        ) from error
    return found


def say(text: str) -> None:
    """Tell the user, on standard error."""
    print(f"cambrian: {text}", file=sys.stderr, flush=True)
