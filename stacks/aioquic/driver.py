"""Drives aioquic's connections, which do no input or output, over one UDP socket.

It does what aioquic's own asyncio shell does (asyncio/protocol.py): hand over one datagram
or the expiry of the timer, then send what the connection has. It does so at the exact time
(asyncio rounds up to milliseconds, which is longer than a packet's pacing interval) and with
one reading of the clock for both. aioquic's pacer lets a packet go at every call that finds
some credit, so that further calls would change how it paces; there are none.

A datagram is for the connection whose ID it bears, as in asyncio/server.py, and a client that
changes its address keeps its connection: aioquic is told where each datagram came from, and
says where each is to go.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from aioquic.buffer import Buffer  # type: ignore[attr-defined]
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import QuicHeader, pull_quic_header
from options import Address

#: flow-control credit of a stream and of a connection: above any bandwidth-delay product
RECEIVE_WINDOW_BYTES = 128 << 20
IDLE_TIMEOUT_S = 3600.0
#: asked of the kernel for either direction; it may give less
SOCKET_BUFFER_BYTES = 32 << 20
DATAGRAM_ROOM_BYTES = 65536
#: what a wait without a timer is cut into
LONGEST_WAIT_S = 3600.0
#: aioquic's own length; a short header does not say it
CONNECTION_ID_BYTES = 8


def configuration(alpn: str, cca: str, datagram_bytes: int, *, is_client: bool) -> QuicConfiguration:
    """What both sides set: wide windows, and aioquic's own choices otherwise."""
    return QuicConfiguration(
        is_client=is_client,
        alpn_protocols=[alpn],
        congestion_control_algorithm=cca,
        connection_id_length=CONNECTION_ID_BYTES,
        max_datagram_size=datagram_bytes,
        max_data=RECEIVE_WINDOW_BYTES,
        max_stream_data=RECEIVE_WINDOW_BYTES,
        idle_timeout=IDLE_TIMEOUT_S,
    )


def udp_socket(bind: Address) -> socket.socket:
    """A bound socket that never blocks, with large buffers."""
    family = socket.AF_INET6 if ":" in bind[0] else socket.AF_INET
    udp = socket.socket(family, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER_BYTES)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER_BYTES)
    udp.bind(bind)
    udp.setblocking(False)
    return udp


@dataclass
class Handlers:
    """What a role does: ``before`` and ``after`` a connection has taken in a datagram or its timer."""

    #: makes a server's connection for an unknown ID, or None to ignore the datagram, of that many bytes
    accept: Callable[[QuicHeader, int], QuicConnection | None]
    before: Callable[[QuicConnection], None]
    after: Callable[[QuicConnection, float], None]
    event: Callable[[QuicConnection, events.QuicEvent], None]


class Driver:
    """A socket, its connections by their IDs, and the signal that ends it all."""

    def __init__(self, udp: socket.socket, handlers: Handlers) -> None:
        self._udp = udp
        self._handlers = handlers
        self._stopped = False
        self._connections: list[QuicConnection] = []
        self._by_id: dict[bytes, QuicConnection] = {}
        wake_reader, wake_writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._watched: list[socket.socket | int] = [udp, wake_reader]
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._stopped = True

    def add(self, connection: QuicConnection) -> None:
        """Drive this connection too, until it ends."""
        self._connections.append(connection)
        self._by_id[connection.host_cid] = connection

    def stop(self) -> None:
        """End :meth:`run` after what it is doing."""
        self._stopped = True

    def run(self) -> None:
        """Serve the connections until :meth:`stop` or a signal."""
        for connection in self._connections:
            self.transmit(connection, time.monotonic())
        while not self._stopped:
            at = self._next_timer()
            wait = LONGEST_WAIT_S if at is None else at - time.monotonic()
            if wait > 0 and self._udp in select.select(self._watched, [], [], wait)[0]:
                self._receive()
            elif at is not None:
                self._expire(at)

    def _next_timer(self) -> float | None:
        timers = [connection.get_timer() for connection in self._connections]
        return min((at for at in timers if at is not None), default=None)

    def _receive(self) -> None:
        data, source = self._udp.recvfrom(DATAGRAM_ROOM_BYTES)
        peer: Address = source[:2]  # IPv6 has two more
        connection = self._addressed(data)
        if connection is None:
            return
        now = time.monotonic()
        self._handlers.before(connection)
        connection.receive_datagram(data, peer, now)
        self._settle(connection, now)

    def _addressed(self, data: bytes) -> QuicConnection | None:
        """The connection that a datagram is for, a new one if need be; None to ignore it."""
        try:
            header = pull_quic_header(Buffer(data=data), host_cid_length=CONNECTION_ID_BYTES)
        except ValueError:
            return None
        connection = self._by_id.get(header.destination_cid)
        if connection is None:
            connection = self._handlers.accept(header, len(data))
            if connection is not None:
                self.add(connection)
                # what the client calls it until it knows better
                self._by_id[header.destination_cid] = connection
        return connection

    def _expire(self, at: float) -> None:
        now = time.monotonic()
        if now < at:
            return  # woken a little early
        for connection in list(self._connections):
            due = connection.get_timer()
            if due is not None and due <= now:
                self._handlers.before(connection)
                connection.handle_timer(now)
                self._settle(connection, now)

    def _settle(self, connection: QuicConnection, now: float) -> None:
        """Tell the role what happened, then send."""
        self._handlers.after(connection, now)
        self._hear(connection)
        self.transmit(connection, now)
        # What was sent may have brought new IDs, which the next datagram may bear.
        self._hear(connection)

    def _hear(self, connection: QuicConnection) -> None:
        """Take in the connection's events, and pass them on to the role."""
        while (event := connection.next_event()) is not None:
            self._handlers.event(connection, event)
            if isinstance(event, events.ConnectionIdIssued):
                self._by_id[event.connection_id] = connection
            elif isinstance(event, events.ConnectionIdRetired):
                self._by_id.pop(event.connection_id, None)
            elif isinstance(event, events.ConnectionTerminated):
                self._remove(connection)

    def _remove(self, connection: QuicConnection) -> None:
        self._connections.remove(connection)
        self._by_id = {name: known for name, known in self._by_id.items() if known is not connection}

    def transmit(self, connection: QuicConnection, now: float) -> None:
        """Send what the connection has to send now, one datagram a call."""
        for data, peer in connection.datagrams_to_send(now):
            # A full buffer drops the datagram, as a full queue would.
            try:
                self._udp.sendto(data, peer)
            except BlockingIOError:
                continue

    def hang_up(self) -> None:
        """Close every connection, so that the other side knows."""
        for connection in self._connections:
            connection.close()
            self.transmit(connection, time.monotonic())
