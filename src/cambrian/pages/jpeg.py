"""JPEG files of exact sizes: one real picture, padded with comments.

A browser stops loading an image that does not decode, and the page would seem loaded too
early. The picture is a file of this package, so that its bytes do not depend on the
libraries of a machine.
"""

from __future__ import annotations

from functools import cache
from hashlib import shake_256
from pathlib import Path

#: 48 × 32 pixels, baseline
PICTURE = Path(__file__).with_name("picture.jpg")
WIDTH, HEIGHT = 48, 32
#: ITU-T T.81, table B.1 and B.2.4.5: SOI, then COM, whose length counts itself
_START = b"\xff\xd8"
_COMMENT = b"\xff\xfe"
_LENGTH_BYTES = 2
_MARKER_BYTES = len(_COMMENT) + _LENGTH_BYTES
_LONGEST_SEGMENT = _MARKER_BYTES + 65_533
#: a marker and a few bytes of noise
_SHORTEST_PADDING = _MARKER_BYTES + 8


@cache
def _picture() -> bytes:
    return PICTURE.read_bytes()


def smallest_bytes() -> int:
    """The smallest size that :func:`image` can make."""
    return len(_picture()) + _SHORTEST_PADDING


def image(size_bytes: int, name: str) -> bytes:
    """A valid JPEG of exactly ``size_bytes``; its padding depends only on ``name``.

    The padding is noise, so that it cannot be compressed.

    Raises:
        ValueError: ``size_bytes`` is below :func:`smallest_bytes`.
    """
    picture = _picture()
    missing = size_bytes - len(picture)
    if missing < _SHORTEST_PADDING:
        raise ValueError(f"a JPEG of {size_bytes} bytes: the smallest has {smallest_bytes()}")
    segments = -(-missing // _LONGEST_SEGMENT)
    noise = shake_256(name.encode()).digest(missing)
    comments = []
    for index in range(segments):
        length = missing * (index + 1) // segments - missing * index // segments
        body = noise[: length - _MARKER_BYTES]
        noise = noise[len(body) :]
        comments.append(_COMMENT + (len(body) + _LENGTH_BYTES).to_bytes(_LENGTH_BYTES, "big") + body)
    return _START + b"".join(comments) + picture[len(_START) :]
