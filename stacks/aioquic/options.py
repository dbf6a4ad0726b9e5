"""The contract's command line, read and checked."""

from __future__ import annotations

import argparse
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, NoReturn

CCAS = ("reno", "cubic")
ALPNS = ("hq-interop",)
ROLES = ("server", "client", "describe")
#: what a client asks for when it shall run until SIGTERM
ENDLESS_BYTES = 1_000_000_000_000
#: aioquic's own size of a UDP payload; it has no path-MTU discovery
DEFAULT_DATAGRAM_BYTES = 1200
#: the largest UDP payload over IPv4 that an MTU of 1500 carries
MAX_DATAGRAM_BYTES = 1472
#: streams that a client may ask for at once: what aioquic's server admits
MAX_STREAMS = 128

USAGE = 2
UNSUPPORTED = 127

Address = tuple[str, int]


class Refused(Exception):
    """A command line that cannot be read (status 2) or met (status 127)."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class Server:
    """The sender's side."""

    listen: Address
    cca: str
    alpn: str
    certificate: str
    key: str
    transport_log: str | None
    datagram_bytes: int


@dataclass(frozen=True)
class Client:
    """The receiver's side; ``total_bytes`` 0 is endless."""

    connect: Address
    server_name: str
    alpn: str
    total_bytes: int
    streams: int
    datagram_bytes: int


@dataclass(frozen=True)
class Describe:
    """What this program can do."""


def description() -> dict[str, Any]:
    """The object that ``describe`` prints."""
    return {
        "name": "aioquic",
        "version": metadata.version("aioquic"),
        "ccas": list(CCAS),
        "roles": ["server", "client"],
        "alpns": list(ALPNS),
    }


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Refused(USAGE, message)


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    host = host.strip("[]")
    try:
        ipaddress.ip_address(host)
        return host, int(port)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not ADDR:PORT") from None


def _parser() -> _Parser:
    parser = _Parser(prog="cambrian-aioquic", add_help=False)
    roles = parser.add_subparsers(dest="role", required=True)
    server = roles.add_parser("server")
    server.add_argument("--listen", type=_address, required=True)
    server.add_argument("--cca", required=True)
    server.add_argument("--cert", required=True)
    server.add_argument("--key", required=True)
    server.add_argument("--transport-log")
    client = roles.add_parser("client")
    client.add_argument("--connect", type=_address, required=True)
    client.add_argument("--server-name", default="cambrian.test")
    client.add_argument("--bytes", type=int, default=0)
    client.add_argument("--streams", type=int, default=1)
    client.add_argument("--path")
    for role in (server, client):
        role.add_argument("--alpn", default=ALPNS[0])
        role.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    roles.add_parser("describe")
    return parser


def _datagram_bytes(assignments: Sequence[str]) -> int:
    """The one knob, ``max_udp_payload_bytes``, or aioquic's default."""
    size = DEFAULT_DATAGRAM_BYTES
    for assignment in assignments:
        key, found, value = assignment.partition("=")
        if not found:
            raise Refused(USAGE, f"--set {assignment}: is not KEY=VALUE")
        if key != "max_udp_payload_bytes":
            raise Refused(USAGE, f"--set: unknown key {key!r}; known: max_udp_payload_bytes")
        if not value.isdecimal() or not DEFAULT_DATAGRAM_BYTES <= int(value) <= MAX_DATAGRAM_BYTES:
            limits = f"{DEFAULT_DATAGRAM_BYTES} to {MAX_DATAGRAM_BYTES}"
            raise Refused(USAGE, f"--set {assignment}: want {limits}")
        size = int(value)
    return size


def parse(arguments: Sequence[str]) -> Server | Client | Describe:
    """Read a command line.

    Raises:
        Refused: it cannot be read, or asks for what aioquic has not.
    """
    if arguments and arguments[0] not in ROLES:
        raise Refused(UNSUPPORTED, f"no role {arguments[0]!r}; there are: {', '.join(ROLES)}")
    found = _parser().parse_args(arguments)
    if found.role == "describe":
        return Describe()
    if found.alpn not in ALPNS:
        raise Refused(UNSUPPORTED, f"alpn {found.alpn!r}: this stack speaks {', '.join(ALPNS)}")
    datagram_bytes = _datagram_bytes(found.set)
    if found.role == "server":
        if found.cca not in CCAS:
            raise Refused(UNSUPPORTED, f"cca {found.cca!r}: this stack has {', '.join(CCAS)}")
        return Server(
            found.listen, found.cca, found.alpn, found.cert, found.key, found.transport_log, datagram_bytes
        )
    if found.path is not None:
        raise Refused(USAGE, "--path does not go with hq-interop, which asks for a number of bytes")
    if found.bytes < 0:
        raise Refused(USAGE, f"--bytes {found.bytes}: must not be negative")
    if not 1 <= found.streams <= MAX_STREAMS:
        raise Refused(USAGE, f"--streams {found.streams}: want 1 to {MAX_STREAMS}")
    return Client(found.connect, found.server_name, found.alpn, found.bytes, found.streams, datagram_bytes)
