"""One flow's transport trace as arrays, for the rules of inference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import BoolArray, FloatArray, Int64Array

#: Columns of ``transport`` that states are told by.
COLUMNS = (
    "flow",
    "time_ns",
    "event",
    "cwnd_bytes",
    "ssthresh_bytes",
    "in_flight_bytes",
    "srtt_us",
    "state",
)
#: a congestion window this small is a collapsed one: RFC 9002's minimum is two packets
COLLAPSED_BYTES = 4 * 1500
#: the round trip where a trace names none: RFC 9002, section 6.2.2
_INITIAL_RTT_NS = 333_000_000


@dataclass(frozen=True)
class Rows:
    """A flow's rows in order of time, arrays of one length.

    ``cwnd_bytes`` and ``in_flight_bytes`` repeat the last value in rows without one, and are NaN
    before the first. ``ssthresh_bytes`` likewise, but infinite in rows with a window and without a
    threshold, and where it is 0. ``rtt_ns`` is the smoothed round trip, and the first sample before that.
    ``lost``: the row reports a congestion event. ``cut``: the window is smaller than before, by a
    congestion event, or by a twentieth and more. ``probe``, ``timeout``: a PTO, an RTO. ``acked``: an
    acknowledgement.
    """

    time_ns: Int64Array
    cwnd_bytes: FloatArray
    ssthresh_bytes: FloatArray
    in_flight_bytes: FloatArray
    rtt_ns: FloatArray
    lost: BoolArray
    cut: BoolArray
    probe: BoolArray
    timeout: BoolArray
    acked: BoolArray

    def __len__(self) -> int:
        return len(self.time_ns)

    @property
    def has_window(self) -> bool:
        """Does the trace have a congestion window?"""
        return bool(np.isfinite(self.cwnd_bytes).any())

    @property
    def has_threshold(self) -> bool:
        """Does the trace have a slow-start threshold?"""
        return bool(np.isfinite(self.ssthresh_bytes).any())


def of_flow(transport: pl.DataFrame, flow: int) -> pl.DataFrame:
    """The flow's rows, in order of time, from the first with data in flight.

    Kernel TCP's trace also has the handshake and the request before it. Without any flight in the trace,
    the rows begin with the first window or state.

    Raises:
        ValueError: a column is missing.
    """
    missing = [name for name in COLUMNS if name not in transport.columns]
    if missing:
        raise ValueError(f"transport lacks the column(s) {', '.join(missing)}")
    mine = transport.filter(pl.col("flow") == flow).select(COLUMNS)
    if not mine["time_ns"].is_sorted():
        mine = mine.sort("time_ns", maintain_order=True)
    begun = (mine["in_flight_bytes"] > 0).fill_null(False)
    if not begun.any():
        begun = mine["cwnd_bytes"].is_not_null() | mine["state"].is_not_null()
    return mine.slice(begun.arg_max() or 0) if begun.any() else mine.clear()


def rows(mine: pl.DataFrame) -> Rows:
    """The arrays of one flow's rows (see :func:`of_flow`)."""
    # 0 stands for none: no window comes to it
    unset = (pl.col("ssthresh_bytes") == 0).fill_null(False)
    threshold = (
        pl.when(unset | (pl.col("ssthresh_bytes").is_null() & pl.col("cwnd_bytes").is_not_null()))
        .then(float("inf"))
        .otherwise(pl.col("ssthresh_bytes").cast(pl.Float64))
    )
    event = pl.col("event")
    filled = mine.select(
        cwnd=pl.col("cwnd_bytes").forward_fill().cast(pl.Float64),
        ssthresh=threshold.forward_fill(),
        in_flight=pl.col("in_flight_bytes").forward_fill().cast(pl.Float64),
        rtt_ns=pl.col("srtt_us").forward_fill().backward_fill().cast(pl.Float64) * 1000,
        lost=(event == "loss").fill_null(False),
        probe=(event == "pto").fill_null(False),
        timeout=(event == "rto").fill_null(False),
        acked=(event == "ack").fill_null(False),
    )
    cwnd = filled["cwnd"].fill_null(float("nan")).to_numpy()
    lost = filled["lost"].to_numpy()
    before = np.r_[np.nan, cwnd[:-1]]
    return Rows(
        time_ns=mine["time_ns"].to_numpy(),
        cwnd_bytes=cwnd,
        ssthresh_bytes=filled["ssthresh"].fill_null(float("inf")).to_numpy(),
        in_flight_bytes=filled["in_flight"].fill_null(float("nan")).to_numpy(),
        rtt_ns=filled["rtt_ns"].fill_null(_INITIAL_RTT_NS).to_numpy(),
        lost=lost,
        cut=(lost & (cwnd < before)) | (cwnd < 0.95 * before),
        probe=filled["probe"].to_numpy(),
        timeout=filled["timeout"].to_numpy(),
        acked=filled["acked"].to_numpy(),
    )
