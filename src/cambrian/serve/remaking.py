"""Makes a page in the background: ``cambrian report`` or ``cambrian compare``, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import signal
import sys

from cambrian.serve.places import Comparison, Place
from cambrian.serve.progress import MADE_FROM, inputs
from cambrian.store.reading import Damaged

#: a report that is told to end may take so long, in seconds
_PATIENCE_S = 10.0


class Remaking:
    """One report at a time, of any place."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        #: the place whose report is being made
        self.now: Place | None = None
        #: why the last report of a place failed, and when its page was written then
        self._failed: dict[str, tuple[str, int]] = {}

    def error(self, place: Place) -> str:
        """Why the last report of ``place`` failed; empty if it did not, or if there is another page now."""
        why, page_ns = self._failed.get(place.key, ("", 0))
        return why if page_ns == place.page_ns else ""

    def start(self, place: Place) -> asyncio.Task[None] | None:
        """Begin; None if a report is being made already."""
        if self.now is not None:
            return None
        self.now = place
        return asyncio.create_task(self._make(place))

    async def _make(self, place: Place) -> None:
        try:
            # read first: a trial that finishes while the page is made is new
            is_comparison = isinstance(place, Comparison)
            made_from = await asyncio.to_thread(inputs, place) if is_comparison else {}
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "cambrian", *place.making),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                # Ctrl-C on a terminal is for the server, which then ends this process
                start_new_session=True,
            )
            _, said = await self._process.communicate()
            lines = said.decode(errors="replace").strip().splitlines()
            failed = self._process.returncode != 0
            self._failed.pop(place.key, None)
            if failed:
                self._fail(place, (lines or [f"the {place.kind} could not be made"])[-1])
            elif is_comparison:
                (place.folder / MADE_FROM).write_text(json.dumps(made_from))
        except (Damaged, OSError) as error:
            self._fail(place, str(error))
        finally:
            self._process = self.now = None

    def _fail(self, place: Place, why: str) -> None:
        self._failed[place.key] = why, place.page_ns

    async def end(self) -> None:
        """End the process, if there is one."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), _PATIENCE_S)
        except TimeoutError:
            process.kill()
            await process.wait()
