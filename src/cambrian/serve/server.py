"""The server: its addresses, and its life from the first request to Ctrl-C.

::

    /                            links to folders and comparisons; the report itself if there is one folder
    /KEY/report/…                the report, its page with a bar that shows the progress
    /compare/KEY+KEY/report/…    the comparison of two folders
    /KEY/progress.json           see cambrian.serve.progress
    /KEY/remake                  POST: make the report again
    /KEY/sql, /KEY/sql.csv       the page for SQL; POST: a query
    /-/…                         what these pages load
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tornado import netutil, web
from tornado.httpserver import HTTPServer

from cambrian.serve import guard, pages
from cambrian.serve.places import PAGE, Place, comparisons
from cambrian.serve.progress import Progress
from cambrian.serve.querying import Querying
from cambrian.serve.remaking import Remaking
from cambrian.serve.sql import Refused
from cambrian.store.reading import Damaged

_T = TypeVar("_T")
#: bytes of a request's body: a query
_MOST_BODY = 2**16


@dataclass
class Served:
    """What all requests share."""

    places: Sequence[Place]
    port: int
    remaking: Remaking = field(default_factory=Remaking)
    #: reading folders and waiting for queries must not hold up other requests
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(4))

    def __post_init__(self) -> None:
        self.comparisons = comparisons(self.places)
        every = [*(one for place in self.places for one in place.all()), *self.comparisons]
        self.by_key = {place.key: place for place in every}
        self.progress = {place.key: Progress(place) for place in every}
        self.querying = {place.key: Querying(place.folder) for place in every if not place.is_suite}


class _Guarded(web.RequestHandler):
    """Every request passes here first; see :mod:`cambrian.serve.guard`."""

    served: Served
    policy = guard.STRICT

    def initialize(self, served: Served) -> None:
        self.served = served

    def set_default_headers(self) -> None:
        self.set_header("Content-Security-Policy", self.policy)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "same-origin")
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        self.set_header("Cross-Origin-Opener-Policy", "same-origin")
        # a run in progress changes what is behind an address
        self.set_header("Cache-Control", "no-cache")
        self.clear_header("Server")

    def prepare(self) -> None:
        host = self.request.headers.get("Host")
        if not guard.is_host(host, self.served.port):
            raise web.HTTPError(403, reason="This server answers only to its own name")
        assert host is not None
        safe = self.request.method in ("GET", "HEAD")
        if not safe and not guard.is_origin(self.request.headers.get("Origin"), host):
            raise web.HTTPError(403, reason="This request comes from another site")

    def write_error(self, status_code: int, **_: Any) -> None:
        self.finish(pages.error(status_code, self._reason))

    def log_exception(self, *_: Any) -> None:
        """An error of the server itself is logged; a refused request is not."""
        if not isinstance(_[1], web.HTTPError):
            super().log_exception(*_)

    def place(self, key: str) -> Place:
        if key not in self.served.by_key:
            raise web.HTTPError(404)
        place = self.served.by_key[key]
        if place.is_gone:
            raise web.HTTPError(410, reason="These results were moved or removed; start cambrian open again")
        return place

    def head(self, *args: str, **named: str) -> Any:
        # tornado sends no body
        return self.get(*args, **named)

    async def aside(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self.served.threads, work)


class _Missing(_Guarded):
    def prepare(self) -> None:
        super().prepare()
        raise web.HTTPError(404)


class _Index(_Guarded):
    def get(self) -> None:
        if len(self.served.places) == 1:
            self.redirect(self.served.places[0].address)
        else:
            self.write(pages.index(self.served.places, self.served.comparisons))


class _NoIcon(_Guarded):
    """Browsers ask for it on their own; a missing one is an error in their console."""

    def get(self) -> None:
        self.set_status(204)


class _Folder(_Guarded):
    def get(self, key: str) -> None:
        self.redirect(self.place(key).address)


class _Page(_Guarded):
    policy = guard.REPORT

    def get(self, key: str) -> None:
        place = self.place(key)
        if not place.page.is_file():
            self.write(pages.nothing_yet(place))
        elif guard.is_inside(place.page, place.report):
            self.write(pages.with_bar(place.page.read_text(encoding="utf-8"), place))
        else:
            raise web.HTTPError(403)


class _Files(_Guarded, web.StaticFileHandler):
    """The report's other files."""

    # other than this package's pages, a file cannot be trusted to be what it says
    policy = "default-src 'none'; sandbox"

    def initialize(self, served: Served) -> None:  # type: ignore[override]
        _Guarded.initialize(self, served)
        web.StaticFileHandler.initialize(self, path="/")

    async def get(self, key: str, path: str, include_body: bool = True) -> None:  # type: ignore[override]
        self.root = str(self.place(key).report)
        await web.StaticFileHandler.get(self, path, include_body)

    async def head(self, key: str, path: str) -> None:  # type: ignore[override]
        await self.get(key, path, include_body=False)

    def validate_absolute_path(self, root: str, absolute_path: str) -> str | None:
        if not guard.is_inside(Path(absolute_path), Path(root)):
            raise web.HTTPError(403)
        return super().validate_absolute_path(root, absolute_path)

    def compute_etag(self) -> str:
        # tornado's is a hash that it keeps for each path, also when the report is made again
        assert self.absolute_path is not None
        found = Path(self.absolute_path).stat()
        return f'"{found.st_mtime_ns:x}-{found.st_size:x}"'

    @classmethod
    def get_version(cls, settings: dict[str, Any], path: str) -> str:
        raise NotImplementedError("no address has a version")


class _Asset(_Guarded):
    def get(self, name: str) -> None:
        if name not in pages.assets():
            raise web.HTTPError(404)
        kind, text = pages.assets()[name]
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        self.write(text)


class _Progress(_Guarded):
    async def get(self, key: str) -> None:
        place = self.place(key)
        try:
            state = await self.aside(self.served.progress[key].state)
        except (Damaged, OSError) as error:
            raise web.HTTPError(500, reason="study.json cannot be read") from error
        remaking = self.served.remaking
        self.write(
            {
                "title": place.title,
                **state.record(),
                # a report that was made again has another one
                "report": place.page_ns,
                "remaking": remaking.now is place,
                "busy": remaking.now is not None,
                "error": remaking.error(place),
            }
        )


class _Remake(_Guarded):
    def post(self, key: str) -> None:
        place = self.place(key)
        task = self.served.remaking.start(place)
        if task is None:
            raise web.HTTPError(409, reason="A report is being made already")
        task.add_done_callback(lambda _: self._forget(place))
        self.set_status(202)

    def _forget(self, place: Place) -> None:
        """Let queries read the new report's tables."""
        for one in place.all():
            if not one.is_suite:
                self.served.querying[one.key].renew()


class _Queried(_Guarded):
    async def found(self, key: str, ask: Callable[[Querying, str], _T]) -> _T:
        """What ``ask`` says of the request's query. Raises :class:`Refused`."""
        if key not in self.served.querying:
            raise web.HTTPError(404)
        self.place(key)
        query = self.get_body_argument("query", "")
        answer: _T = await self.aside(lambda: ask(self.served.querying[key], query))
        return answer


class _Sql(_Queried):
    def get(self, key: str) -> None:
        if self.place(key).is_suite:
            raise web.HTTPError(404)
        self.served.threads.submit(self.served.querying[key].warm)
        self.write(pages.queries(self.place(key)))

    async def post(self, key: str) -> None:
        try:
            found = await self.found(key, Querying.answer)
        except Refused as refused:
            self.set_status(400)
            self.write({"error": str(refused)})
            return
        self.set_header("Content-Type", "application/json")
        self.write(json.dumps(vars(found)))


class _SqlCsv(_Queried):
    async def post(self, key: str) -> None:
        try:
            text = await self.found(key, Querying.as_csv)
        except Refused as refused:
            self.set_status(400)
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.write(str(refused))
            return
        self.set_header("Content-Type", "text/csv; charset=utf-8")
        self.set_header("Content-Disposition", 'attachment; filename="query.csv"')
        self.write(text)


def application(served: Served) -> web.Application:
    """All addresses."""
    shared = {"served": served}
    key = "/(.+)"
    return web.Application(
        [
            ("/", _Index, shared),
            ("/favicon.ico", _NoIcon, shared),
            ("/-/([a-z.]+)", _Asset, shared),
            (f"{key}/progress.json", _Progress, shared),
            (f"{key}/remake", _Remake, shared),
            (f"{key}/sql", _Sql, shared),
            (f"{key}/sql.csv", _SqlCsv, shared),
            (f"{key}/report/(?:{PAGE})?", _Page, shared),
            (f"{key}/report/(.+)", _Files, shared),
            (f"{key}/", _Folder, shared),
        ],
        default_handler_class=_Missing,
        default_handler_args=shared,
        log_function=lambda _: None,
    )


async def serve(places: Sequence[Place], port: int, ready: Callable[[str], None]) -> int:
    """Serve until Ctrl-C or SIGTERM; return the signal's number.

    ``port`` 0: a free one. ``ready`` gets the address.

    Raises:
        OSError: the port is taken.
    """
    sockets = netutil.bind_sockets(port, guard.LOOPBACK)
    served = Served(places, int(sockets[0].getsockname()[1]))
    server = HTTPServer(application(served), max_body_size=_MOST_BODY, max_buffer_size=2 * _MOST_BODY)
    server.add_sockets(sockets)
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()

    def end(number: int) -> None:
        if not ended.done():
            ended.set_result(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        # a shell lets a command in the background ignore Ctrl-C
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end, number)
    try:
        ready(f"http://{guard.LOOPBACK}:{served.port}/")
        return await ended
    finally:
        server.stop()
        await served.remaking.end()
        for querying in served.querying.values():
            querying.end()
        await server.close_all_connections()
        served.threads.shutdown(cancel_futures=True)
