"""A process that carries queries out.

DuckDB's own limits have gaps: it neither interrupts `repeat('x', 2000000000)` nor counts the memory of it.
A process can be killed, and the kernel limits its memory.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import threading
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Literal

from cambrian.parallel import end_with
from cambrian.serve import sql
from cambrian.serve.sql import Answer, Database, Refused
from cambrian.store.reading import Damaged
from cambrian.store.results import Results

#: bytes of memory that the process may write to: DuckDB's limit, the results' text, and the libraries
_MEMORY = 4 * 2**30
#: after DuckDB's own limit, in seconds
_GRACE_S = 2.0
#: for reading the tables of a large study, in seconds
_PATIENCE_S = 300.0
_SLOW = "The tables could not be read in time; try again when the machine has less to do."
_UNKNOWN = "This query’s answer cannot be shown here: {error}"
_UNREADABLE = "These results cannot be queried: {error}"
_DIED = "The query needed too much memory, so its process ended: ask for fewer trials or columns."

Wanted = Literal["answer", "as_csv"]


class Querying:
    """Queries over one results directory, one at a time. The process starts with the first one."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is a real path."""
        self._folder = folder
        self._turn = threading.Lock()
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self._old = False
        #: when trials, study.json and the report's tables had last been written, as the process started
        self._as_of_ns: tuple[int, ...] = ()
        self._tables_of_ns: tuple[int, ...] = ()

    def _written_ns(self) -> tuple[int, ...]:
        """A trial and study.json come by a change of name."""
        return _times_ns(Results(self._folder).trials_folder, self._folder / "study.json")

    def _tables_ns(self) -> tuple[int, ...]:
        """A report's tables come by a change of name, in a folder of their own."""
        frames = self._folder / "frames"
        return _times_ns(frames, *sorted(frames.glob("*")))

    def answer(self, query: str) -> Answer:
        """The first rows. See :meth:`cambrian.serve.sql.Database.answer`."""
        found = self._ask("answer", query)
        assert isinstance(found, Answer)
        return found

    def as_csv(self, query: str) -> bytes:
        """All rows. See :meth:`cambrian.serve.sql.Database.as_csv`."""
        found = self._ask("as_csv", query)
        assert isinstance(found, bytes)
        return found

    def warm(self) -> None:
        """Start the process now, so that the first query need not wait for it, and with the trials of now."""
        if (self._written_ns(), self._tables_ns()) != (self._as_of_ns, self._tables_of_ns):
            self.renew()
        with self._turn, contextlib.suppress(Refused, EOFError, ConnectionError):
            self._started()

    def renew(self) -> None:
        """Let the next query read the tables anew; a query that runs is finished first."""
        self._old = True

    def end(self) -> None:
        """End the process, in the middle of a query too; the next query starts another one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.join()

    def _ask(self, wanted: Wanted, query: str) -> object:
        with self._turn:
            # a report was made elsewhere; new trials wait for the page, so that a run delays no query
            if self._tables_ns() != self._tables_of_ns:
                self._old = True
            try:
                pipe = self._started()
                pipe.send((wanted, query))
                if not pipe.poll(sql.TIME_LIMIT_S + _GRACE_S):
                    self.end()
                    raise Refused(sql.STOPPED)
                found = pipe.recv()
            except (EOFError, ConnectionError):
                self.end()
                raise Refused(_DIED) from None
        if isinstance(found, Refused):
            raise found
        return found

    def _started(self) -> Connection:
        if self._old:
            self._old = False
            self.end()
        if self._process is None or self._pipe is None or not self._process.is_alive():
            context = multiprocessing.get_context("spawn")
            self._as_of_ns, self._tables_of_ns = self._written_ns(), self._tables_ns()
            self._pipe, its = context.Pipe()
            self._process = context.Process(
                target=_carry_out, args=(self._folder, its, os.getpid()), daemon=True
            )
            self._process.start()
            its.close()
            if not self._pipe.poll(_PATIENCE_S):
                self.end()
                raise Refused(_SLOW)
            if isinstance(refused := self._pipe.recv(), Refused):
                self.end()
                raise refused
        return self._pipe


def _times_ns(*places: Path) -> tuple[int, ...]:
    """When each was last changed; 0 if it is missing."""
    found = []
    for place in places:
        try:
            found.append(place.stat().st_mtime_ns)
        except OSError:
            found.append(0)
    return tuple(found)


def _carry_out(folder: Path, pipe: Connection, parent: int) -> None:
    """The process: answers until its parent ends."""
    end_with(parent)
    # Ctrl-C on a terminal reaches this process too; its parent ends it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        database = Database(folder)
    except (Refused, Damaged, MemoryError) as error:
        pipe.send(Refused(str(error) or _DIED))
        return
    except Exception as error:
        # an end without words would mean too little memory
        pipe.send(Refused(_UNREADABLE.format(error=error)))
        return
    pipe.send(None)
    while True:
        try:
            wanted, query = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(database.answer(query) if wanted == "answer" else database.as_csv(query))
        except Refused as refused:
            pipe.send(refused)
        except MemoryError:
            pipe.send(Refused(_DIED))
        except Exception as error:
            pipe.send(Refused(_UNKNOWN.format(error=error)))
