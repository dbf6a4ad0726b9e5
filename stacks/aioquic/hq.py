"""hq-interop, HTTP/0.9 over QUIC: a body of N bytes for ``GET /N``."""

from __future__ import annotations

#: bounds a request line; "GET /1000000000000\r\n" has 20
MAX_REQUEST_BYTES = 64


def request(size_bytes: int) -> bytes:
    """The request line for a body of the given length."""
    return f"GET /{size_bytes}\r\n".encode()


def parse_request(line: bytes) -> int:
    """The number of bytes that a request line asks for.

    Raises:
        ValueError: not such a line.
    """
    path = line.rstrip(b"\r\n").removeprefix(b"GET /")
    if len(line) > MAX_REQUEST_BYTES or not line.startswith(b"GET /") or not path.isdigit():
        raise ValueError(f"not a request for a number of bytes: {line[:MAX_REQUEST_BYTES]!r}")
    return int(path)


def share(total_bytes: int, streams: int, index: int) -> int:
    """Stream ``index``'s part of ``total_bytes``, the first ones taking the remainder."""
    part, rest = divmod(total_bytes, streams)
    return part + (1 if index < rest else 0)
