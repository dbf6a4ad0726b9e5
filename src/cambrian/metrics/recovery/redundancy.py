"""Bytes delivered twice, independent of the sender's log.

They are the frames that left the bottleneck, minus their headers, minus the bytes that the receiving
application had by then. The rest arrived twice, or waits in the receiver for a gap to be filled. The latter
is temporary, so the minimum over time counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import FloatArray, Int64Array, departed, int64
from cambrian.metrics.payload import HEADER_BYTES

#: Ethernet, IPv4 and UDP; then of QUIC (RFC 9000) flags 1, connection ID 0–20, packet number
#: 1–4, AEAD tag 16; and of a STREAM frame type 1, stream ID 1–8, offset 4–8, length 0–2
QUIC_HEADER_BYTES = (
    HEADER_BYTES["quic"] + 1 + 0 + 1 + 16 + 1 + 1 + 4 + 0,
    HEADER_BYTES["quic"] + 1 + 20 + 4 + 16 + 1 + 8 + 8 + 2,
)
#: QUIC's handshake: certificates, transport parameters, padding
_QUIC_HANDSHAKE_BYTES = 8_000
#: shorter frames carry no data: TCP's SYN has 74 bytes
_LEAST_DATA_FRAME_BYTES = 75
#: reports from which a header is read off, and how far the middle half of them may be apart
_FEWEST_REPORTS = 8
_STEADY_BYTES = 4.0
#: a sender may add to each packet what is no copy: PADDING (RFC 9000, section 19.1), a larger header, a
#: checksum. Overhead up to this share of its frames is therefore no proof of repetitions
_OWN_OVERHEAD_SHARE = 0.25
#: the middle half of the seconds' overhead is within this share of the median for padding and larger headers;
#: repetitions after losses vary more
_STEADY_SHARE = 0.1
#: number of last reports; the one with the smallest rest counts
_LAST_REPORTS = 5


@dataclass(frozen=True)
class Delivery:
    """The receiver's reports: at ``time_ns`` (since the trial's zero, ascending) its application
    had ``received_bytes``; shape (n,) each."""

    time_ns: Int64Array
    received_bytes: Int64Array


@dataclass(frozen=True)
class Redundancy:
    """Until ``until_ns``: ``delivered_bytes`` as frames, of them ``redundant_bytes``, within ``low``
    and ``high`` by what is open about headers. ``header_bytes`` a frame, as estimated; ``exact``:
    known, not estimated. ``goodput_percent``: application bytes of the delivered ones.
    """

    until_ns: int
    delivered_bytes: int
    redundant_bytes: float
    low_bytes: float
    high_bytes: float
    header_bytes: float
    exact: bool
    goodput_percent: float

    def percent(self, part_bytes: float) -> float:
        """``part_bytes`` of what was delivered."""
        return 100 * part_bytes / self.delivered_bytes


def redundancy(packets: pl.DataFrame, delivery: Delivery, header_bytes: float | None) -> Redundancy | None:
    """Redundant bytes of one flow; None without a report that covers any of its departures.

    Also None if a report says more bytes than had left the bottleneck: then the receiver's reports are wrong.
    And None if the seconds are alike and show more than QUIC's headers, up to a quarter of each frame: that
    may be padding, a larger header, or data that are sent again all the time.

    Parameters:
        packets: of that flow alone.
        header_bytes: of each data frame, where known; None reads it off the flow's own steady
            seconds (a QUIC stack's), or takes QUIC's possible range where there are none.

    A redundancy so constant that no second differs would be taken for header: ``header_bytes``
    shows it (the 20 stacks here have 69 to 88). Seconds that are alike and show more than a quarter of each
    frame count from there on. Where most seconds show more than QUIC's headers and differ, ``low_bytes`` is
    what exceeds their lower quartile.
    """
    data = departed(packets).filter(pl.col("size_bytes") >= _LEAST_DATA_FRAME_BYTES)
    data = data.sort("departure_ns", maintain_order=True)
    seen = np.searchsorted(int64(data, "departure_ns"), delivery.time_ns, side="right")
    sizes = np.concatenate([[0], np.cumsum(int64(data, "size_bytes"))])[seen]
    if not len(seen) or not seen[-1] or (delivery.received_bytes > sizes).any():
        return None
    low_header, header, high_header = _header(seen, sizes, delivery.received_bytes, header_bytes)
    # a report from before the first departure covers nothing
    left_over = np.where(seen > 0, sizes - seen * header - delivery.received_bytes, np.inf)
    at = len(seen) - 1 - int(np.argmin(left_over[::-1][:_LAST_REPORTS]))
    handshake = 0 if header_bytes is not None else _QUIC_HANDSHAKE_BYTES
    if header_bytes is None and header > QUIC_HEADER_BYTES[1] and left_over[at] <= 0:
        return None
    return Redundancy(
        until_ns=int(delivery.time_ns[at]),
        delivered_bytes=int(sizes[at]),
        redundant_bytes=max(float(left_over[at]), 0.0),
        low_bytes=max(float(left_over[at] - seen[at] * (high_header - header)) - handshake, 0.0),
        high_bytes=max(float(left_over[at] + seen[at] * (header - low_header)), 0.0),
        header_bytes=header,
        exact=header_bytes is not None,
        goodput_percent=100 * float(delivery.received_bytes[at]) / float(sizes[at]),
    )


def _header(
    seen: Int64Array, sizes: Int64Array, received: Int64Array, known: float | None
) -> tuple[float, float, float]:
    """Header bytes a frame: the least, the estimate, the most."""
    if known is not None:
        return known, known, known
    frames = np.diff(seen)
    some = frames > 0
    each: FloatArray = (np.diff(sizes) - np.diff(received))[some] / frames[some]
    if not len(each):
        each = (sizes[-1:] - received[-1:]) / seen[-1:]
    low, middle, high = (float(value) for value in np.quantile(each, [0.25, 0.5, 0.75]))
    least, most = QUIC_HEADER_BYTES
    if len(each) >= _FEWEST_REPORTS and high - low <= _STEADY_BYTES and least <= middle <= most:
        return low, middle, high
    if low <= most:  # QUIC's headers explain a quarter of the seconds; the others exceed them
        return least, (least + most) / 2, most
    own = max(most, _OWN_OVERHEAD_SHARE * float(sizes[-1]) / float(seen[-1]))
    if high - low <= _STEADY_SHARE * middle:
        return least, own, own
    # no overhead of every packet is larger than that of the seconds with the least
    return least, (least + most) / 2, min(low, own)
