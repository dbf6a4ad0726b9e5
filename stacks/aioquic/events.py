"""The contract's standard output: one JSON object a line."""

from __future__ import annotations

import json
import time
from typing import Any, TextIO


class Emitter:
    """Writes events, each flushed."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, fields: dict[str, Any]) -> None:
        """Write one object as it is."""
        self._out.write(json.dumps(fields) + "\n")
        self._out.flush()

    def emit(self, event: str, **fields: Any) -> None:
        """Write one event."""
        self.write({"event": event, **fields})

    def connected(self) -> None:
        """A handshake is done."""
        self.emit("connected", time_ns=time.time_ns())

    def progress(self, received_bytes: int) -> None:
        """What has arrived so far."""
        self.emit("progress", time_ns=time.time_ns(), bytes=received_bytes)

    def done(self, transferred_bytes: int, *, complete: bool, error: str | None) -> None:
        """The last line."""
        self.emit("done", time_ns=time.time_ns(), bytes=transferred_bytes, complete=complete, error=error)
