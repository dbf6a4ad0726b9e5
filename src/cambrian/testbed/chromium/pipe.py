"""Chromium's DevTools protocol over a pair of pipes (``--remote-debugging-pipe``).

The browser reads commands from descriptor 3 and writes answers and events to descriptor 4:
JSON, each message ended by a NUL. No socket is involved, so nothing of it shows on a network.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import time
from collections.abc import Mapping
from typing import Any

_READ_BYTES = 1 << 16
#: descriptors that the browser will find its pipes at, and one that is out of their way
_COMMANDS, _ANSWERS, _FREE = 3, 4, 10


class DevToolsError(RuntimeError):
    """The browser refused a command, ended, or did not answer in time; the text says which."""


def _pipe() -> tuple[int, int]:
    """A pipe whose ends a child does not inherit and that leave descriptors 3 and 4 free."""
    ends = []
    for descriptor in os.pipe():
        ends.append(fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FREE))
        os.close(descriptor)
    return ends[0], ends[1]


class Browser:
    """A running browser and its command channel; times out in seconds of the monotonic clock."""

    def __init__(self, argv: list[str], environment: Mapping[str, str]) -> None:
        theirs_in, self._commands = _pipe()
        self._answers, theirs_out = _pipe()
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, 2, 1),  # our own standard output is for events alone
            (os.POSIX_SPAWN_DUP2, theirs_in, _COMMANDS),
            (os.POSIX_SPAWN_DUP2, theirs_out, _ANSWERS),
        ]
        self.pid = os.posix_spawn(argv[0], argv, dict(environment), file_actions=actions, setsigmask=[])
        os.close(theirs_in)
        os.close(theirs_out)
        self._number = 0
        self._buffer = b""
        self._messages: list[dict[str, Any]] = []

    def call(
        self, method: str, timeout_s: float, *, session: str | None = None, **parameters: object
    ) -> dict[str, Any]:
        """Send a command and wait for its answer; events that come first are kept for :meth:`event`.

        Raises:
            DevToolsError: refused, no answer within ``timeout_s``, or the browser ended.
        """
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline_s = time.monotonic() + timeout_s
        while True:
            for position, answer in enumerate(self._messages):
                if answer.get("id") == self._number:
                    del self._messages[position]
                    if "error" in answer:
                        raise DevToolsError(f"{method}: {answer['error'].get('message')}")
                    result: dict[str, Any] = answer["result"]
                    return result
            self._receive(deadline_s, method)

    def event(self, method: str, timeout_s: float) -> dict[str, Any]:
        """Wait for an event and give its parameters; what came before it is forgotten.

        Raises:
            DevToolsError: it did not come within ``timeout_s``, or the browser ended.
        """
        deadline_s = time.monotonic() + timeout_s
        while True:
            while self._messages:
                message = self._messages.pop(0)
                if message.get("method") == method:
                    parameters: dict[str, Any] = message["params"]
                    return parameters
            self._receive(deadline_s, method)

    def _receive(self, deadline_s: float, awaited: str) -> None:
        left_s = deadline_s - time.monotonic()
        if left_s <= 0 or not select.select([self._answers], [], [], left_s)[0]:
            raise DevToolsError(f"{awaited}: the browser did not answer in time")
        data = os.read(self._answers, _READ_BYTES)
        if not data:
            raise DevToolsError(f"{awaited}: the browser has ended")
        *whole, self._buffer = (self._buffer + data).split(b"\0")
        self._messages += [json.loads(text) for text in whole]

    def close(self, timeout_s: float) -> None:
        """End the browser in order, so that it completes its files; by force if it takes too long."""
        try:
            self.call("Browser.close", timeout_s)
            deadline_s = time.monotonic() + timeout_s
            while time.monotonic() < deadline_s:
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    return
                time.sleep(0.01)
        except DevToolsError:
            pass
        self.kill()

    def kill(self) -> None:
        """End the browser at once; its other processes end when they lose it."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
