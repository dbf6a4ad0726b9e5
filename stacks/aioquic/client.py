"""The receiver: asks for bytes on one or more streams and counts what arrives."""

from __future__ import annotations

import ssl
import time

import hq
from aioquic.quic import events
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import QuicHeader
from driver import Driver, Handlers, configuration, udp_socket
from events import Emitter
from options import ENDLESS_BYTES, Client

PROGRESS_INTERVAL_S = 1.0


class _Client:
    def __init__(self, options: Client, emit: Emitter) -> None:
        self._options = options
        self._emit = emit
        self._received_bytes = 0
        self._open_streams = options.streams
        self._error: str | None = None
        self._next_progress = time.monotonic() + PROGRESS_INTERVAL_S
        any_address = "::" if ":" in options.connect[0] else "0.0.0.0"  # noqa: S104
        self._driver = Driver(
            udp_socket((any_address, 0)), Handlers(self._accept, self._before, self._after, self._event)
        )

    def run(self) -> int:
        options = self._options
        # the receiver's own controller governs its ACKs only, which none holds back
        wanted = configuration(options.alpn, "reno", options.datagram_bytes, is_client=True)
        wanted.server_name = options.server_name
        wanted.verify_mode = ssl.CERT_NONE  # the laboratory's network has no adversary
        connection = QuicConnection(configuration=wanted)
        connection.connect(options.connect, time.monotonic())
        self._driver.add(connection)
        self._driver.run()
        self._driver.hang_up()
        complete = self._error is None and 0 < options.total_bytes <= self._received_bytes
        self._emit.done(self._received_bytes, complete=complete, error=self._error)
        return 0 if self._error is None else 1

    def _accept(self, header: QuicHeader, size_bytes: int) -> None:
        """A client takes no connections."""

    def _before(self, connection: QuicConnection) -> None:
        """A receiver keeps no log."""

    def _after(self, connection: QuicConnection, now: float) -> None:
        if now >= self._next_progress:
            self._emit.progress(self._received_bytes)
            self._next_progress = now + PROGRESS_INTERVAL_S

    def _event(self, connection: QuicConnection, event: events.QuicEvent) -> None:
        if isinstance(event, events.HandshakeCompleted):
            self._emit.connected()
            self._ask(connection)
        elif isinstance(event, events.StreamDataReceived):
            self._received_bytes += len(event.data)
            if event.end_stream:
                self._end_stream()
        elif isinstance(event, events.StreamReset):
            self._fail(f"the server reset stream {event.stream_id} (code {event.error_code})")
        elif isinstance(event, events.ConnectionTerminated):
            self._fail(f"the connection ended: {event.reason_phrase or f'code {event.error_code}'}")

    def _ask(self, connection: QuicConnection) -> None:
        total = self._options.total_bytes or ENDLESS_BYTES
        for index in range(self._options.streams):
            wanted = hq.share(total, self._options.streams, index)
            stream_id = connection.get_next_available_stream_id()
            connection.send_stream_data(stream_id, hq.request(wanted), end_stream=True)

    def _end_stream(self) -> None:
        self._open_streams -= 1
        if self._open_streams:
            return
        wanted = self._options.total_bytes or ENDLESS_BYTES
        if self._received_bytes != wanted:
            self._error = f"asked for {wanted} bytes, got {self._received_bytes}"
        self._driver.stop()

    def _fail(self, reason: str) -> None:
        self._error = reason
        self._driver.stop()


def run(options: Client, emit: Emitter) -> int:
    """Fetch what was asked for, or until SIGTERM; the exit status."""
    return _Client(options, emit).run()
