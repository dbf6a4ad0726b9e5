"""Requests for a number of bytes."""

from __future__ import annotations

import hq
import pytest


@pytest.mark.parametrize("size_bytes", [0, 1, 10**12])
def test_round_trip(size_bytes: int) -> None:
    assert hq.parse_request(hq.request(size_bytes)) == size_bytes


@pytest.mark.parametrize(
    "line", [b"", b"GET /", b"GET /-1\r\n", b"GET /1x", b"POST /1", b"GET /" + b"1" * 64]
)
def test_refusals(line: bytes) -> None:
    with pytest.raises(ValueError, match="not a request"):
        hq.parse_request(line)


@pytest.mark.parametrize("streams", [1, 3, 7])
def test_shares_add_up(streams: int) -> None:
    shares = [hq.share(1_000_003, streams, index) for index in range(streams)]
    assert sum(shares) == 1_000_003
    assert max(shares) - min(shares) <= 1
