"""The guest kernel's TCP trace points → ``transport``.

``tcp_probe`` fires at each segment that a sender receives and gives the window, the
threshold, the sequence numbers and the smoothed round trip; ``tcp_cong_state_set`` gives
the recovery state machine (``enum tcp_ca_state``); ``tcp_retransmit_skb`` each
retransmission. Windows are in segments, of the connection's MSS: 1448 bytes over MTU 1500
with time stamps.

The probe's ``ssthresh`` is ``tcp_current_ssthresh()``: outside of a reduction it is never
less than three quarters of the window, whatever the connection's own threshold.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from cambrian.trace import ring_buffer, schema
from cambrian.trace.packets import TraceError

#: MTU 1500 − 20 (IPv4) − 20 (TCP) − 12 (time stamps)
MSS_BYTES = 1448
#: ``enum tcp_ca_state`` in include/uapi/linux/tcp.h
STATES = ["open", "disorder", "cwr", "recovery", "loss"]
#: TCP_INFINITE_SSTHRESH in include/net/tcp.h: "none yet"
INFINITE_SSTHRESH = 0x7FFF_FFFF

#: trace point → our name: (its field, format, bytes to skip). ``saddr`` is a whole sockaddr_in in
#: tcp_probe (family and port come first), four bytes elsewhere; addresses are in network order.
_FIELDS = {
    "tcp_probe": {
        "address": ("saddr", ">u4", 4),
        "snd_nxt": ("snd_nxt", "<u4", 0),
        "snd_una": ("snd_una", "<u4", 0),
        "snd_cwnd": ("snd_cwnd", "<u4", 0),
        "ssthresh": ("ssthresh", "<u4", 0),
        "srtt": ("srtt", "<u4", 0),
    },
    "tcp_cong_state_set": {"address": ("saddr", ">u4", 0), "cong_state": ("cong_state", "u1", 0)},
    "tcp_retransmit_skb": {"address": ("saddr", ">u4", 0)},
}


def _flow(address: np.ndarray[tuple[int], np.dtype[np.uint32]]) -> pl.Series:
    return pl.Series(((address.astype(np.int64) >> 8) & 0xFF).astype(np.uint16))


def read(folder: Path, *, zero_ns: int, end_ns: int, realtime_minus_monotonic_ns: int) -> pl.DataFrame:
    """Transport trace of all kernel TCP senders, in order of time.

    Parameters:
        folder: holds ``trace.bin`` and the trace points' ``.format`` files.
        zero_ns, end_ns: the trial's zero on the guest's clock, and its end after zero.
        realtime_minus_monotonic_ns: the trace's clock is the monotonic one.

    Raises:
        TraceError: the ring overran, so that events are missing.
    """
    data = (folder / "trace.bin").read_bytes()
    if ring_buffer.lost_events(data):
        raise TraceError("the kernel's trace ring overflowed: events are missing")
    formats = {
        name: ring_buffer.parse_format((folder / f"{name}.format").read_text(), fields)
        for name, fields in _FIELDS.items()
    }
    found = ring_buffer.events(data, list(formats.values()))
    parts = []
    for name, item in formats.items():
        times, rows = found[item.number]
        frame = pl.DataFrame(
            {"flow": _flow(rows["address"]), "time_ns": times + realtime_minus_monotonic_ns - zero_ns}
        )
        parts.append(_COLUMNS[name](frame, rows))
    whole = pl.concat(parts, how="diagonal").sort("time_ns", maintain_order=True)
    whole = whole.with_columns(state=pl.col("state").forward_fill().over("flow").fill_null("open"))
    for name, kind in schema.TRANSPORT.items():
        if name not in whole.columns:
            whole = whole.with_columns(pl.lit(None, kind).alias(name))
    whole = whole.select(schema.TRANSPORT.keys()).cast(pl.Schema(schema.TRANSPORT))
    return whole.filter(pl.col("time_ns").is_between(0, end_ns, closed="left"))


Rows = np.ndarray[tuple[int], np.dtype[np.void]]


def _probe(frame: pl.DataFrame, rows: Rows) -> pl.DataFrame:
    ssthresh = rows["ssthresh"].astype(np.int64)
    # sequence numbers wrap at 2^32; sRTT is kept in eighths of a microsecond and printed in whole ones
    in_flight = (rows["snd_nxt"].astype(np.int64) - rows["snd_una"].astype(np.int64)) & 0xFFFF_FFFF
    return frame.with_columns(
        event=pl.lit("ack"),
        cwnd_bytes=pl.Series(rows["snd_cwnd"].astype(np.int64) * MSS_BYTES),
        ssthresh_bytes=pl.Series(ssthresh * MSS_BYTES).set(pl.Series(ssthresh == INFINITE_SSTHRESH), None),
        in_flight_bytes=pl.Series(in_flight),
        srtt_us=pl.Series(rows["srtt"].astype(np.int64)),
        state=pl.lit(None, pl.String),
    )


def _state(frame: pl.DataFrame, rows: Rows) -> pl.DataFrame:
    names = np.array([*STATES, "unknown"])[np.minimum(rows["cong_state"], len(STATES)).astype(int)]
    return frame.with_columns(event=pl.lit("state"), state=pl.Series(names.tolist(), dtype=pl.String))


def _retransmit(frame: pl.DataFrame, rows: Rows) -> pl.DataFrame:
    del rows
    return frame.with_columns(event=pl.lit("retransmit"), state=pl.lit(None, pl.String))


_COLUMNS = {"tcp_probe": _probe, "tcp_cong_state_set": _state, "tcp_retransmit_skb": _retransmit}
