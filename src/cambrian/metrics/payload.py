"""Payload of UDP or TCP in the frames at the bottleneck.

Papers define throughput differently. The WPI thesis (Srivastava, 2017) counts UDP payload for
QUIC and TCP payload for TCP: its figures of a full link are rate × 1350/1392 and rate × 1448/1514.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import polars as pl

from cambrian.metrics.columns import departed, int64, require_interval, to_mbps

Protocol = Literal["quic", "tcp"]

ETHERNET_BYTES = 14
#: Ethernet 14 + IPv4 20, and UDP 8, or TCP 20 with its time stamps 12 (every segment of kernel TCP)
HEADER_BYTES: Mapping[Protocol, int] = {
    "quic": ETHERNET_BYTES + 20 + 8,
    "tcp": ETHERNET_BYTES + 20 + 20 + 12,
}
#: kernel TCP's SYN: 8 bytes of options more, and no data
_SYN_BYTES = HEADER_BYTES["tcp"] + 8


def payload_mbps(packets: pl.DataFrame, flow: int, protocol: Protocol, t0_ns: int, t1_ns: int) -> float:
    """Payload of one flow over the departures in [t0_ns, t1_ns), in Mbps = 10^6 bit/s.

    QUIC's own headers are UDP's payload, TLS records are TCP's; retransmissions count.

    Raises:
        ValueError: the interval is empty.
    """
    require_interval(t0_ns, t1_ns)
    sizes = int64(departed(packets, t0_ns, t1_ns).filter(pl.col("flow") == flow), "size_bytes")
    carrying = sizes[sizes > (_SYN_BYTES if protocol == "tcp" else HEADER_BYTES["quic"])]
    return to_mbps(float(carrying.sum() - len(carrying) * HEADER_BYTES[protocol]), t1_ns - t0_ns)


def mean_packet_bytes(packets: pl.DataFrame, flow: int, t0_ns: int, t1_ns: int) -> float | None:
    """Mean size of the flow's IP packets that left the bottleneck in [t0_ns, t1_ns); None where none did.

    Raises:
        ValueError: the interval is empty.
    """
    require_interval(t0_ns, t1_ns)
    sizes = int64(departed(packets, t0_ns, t1_ns).filter(pl.col("flow") == flow), "size_bytes")
    return float(sizes.mean()) - ETHERNET_BYTES if len(sizes) else None
