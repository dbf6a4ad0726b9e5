"""One flow's window within a made trial."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl

from cambrian.measure.flow_window import FlowWindow


def test_a_full_packet_is_neither_the_usual_one_nor_a_probe_of_the_mtu() -> None:
    sizes = [1294] * 40 + [302] * 60 + [1514, 1514, 60]
    packets = pl.DataFrame({"flow": [0] * (len(sizes) - 2) + [1, 2], "size_bytes": sizes})
    whole: Any = SimpleNamespace(packets=packets, protocols=("quic", "tcp", "tcp", None))
    assert [FlowWindow(whole, number).packet_bytes for number in range(4)] == [1252, 1448, None, None]
