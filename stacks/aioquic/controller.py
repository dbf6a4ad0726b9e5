"""A connection's congestion controller, inside aioquic: its name, and rows for the transport log."""

from __future__ import annotations

import time
from typing import Any

from aioquic.quic.congestion.base import K_MINIMUM_WINDOW
from aioquic.quic.congestion.cubic import CubicCongestionControl
from aioquic.quic.congestion.reno import RenoCongestionControl
from aioquic.quic.connection import QuicConnection

NAMES: dict[type, str] = {RenoCongestionControl: "reno", CubicCongestionControl: "cubic"}

HEADER = "time_ns,event,cwnd_bytes,ssthresh_bytes,in_flight_bytes,srtt_us,pacing_bps,state\n"
BLOCK_BYTES = 64 << 10


def name(connection: QuicConnection) -> str | None:
    """The algorithm that the connection runs, by its class; None for a class that we do not know."""
    return NAMES.get(type(connection._loss._cc))


def stats(connection: QuicConnection) -> dict[str, int]:
    """What aioquic counts, or can be asked for at the end."""
    loss = connection._loss
    return {
        "packets_sent": connection._packet_number,
        "cwnd_bytes": loss.congestion_window,
        "srtt_us": round(loss._rtt_smoothed * 1e6),
        "min_rtt_us": round(loss._rtt_min * 1e6) if loss._rtt_initialized else 0,
    }


def _collapsed(cwnd: int, loss: Any) -> bool:
    """Has persistent congestion left the minimum of ``cwnd`` bytes, the window before?"""
    now: int = loss.congestion_window
    return now < cwnd and now <= K_MINIMUM_WINDOW * loss._pacer._max_datagram_size


def state(congestion_window: int, ssthresh: int | None) -> str:
    """Which branch of aioquic's ``on_packet_acked`` an ACK would take now."""
    slow = ssthresh is None or congestion_window < ssthresh
    return "slow_start" if slow else "congestion_avoidance"


class TransportLog:
    """The contract's CSV file, from a comparison of the controller before and after each input."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "w", encoding="ascii", buffering=BLOCK_BYTES)  # noqa: PTH123, SIM115
        self._file.write(HEADER)
        # aioquic's time is CLOCK_MONOTONIC: its distance to CLOCK_REALTIME is read once
        self._offset_ns = time.time_ns() - time.monotonic_ns()
        self._started: set[int] = set()
        self._before = (0.0, 0, 0, 0)

    def before(self, connection: QuicConnection) -> None:
        """Remember the controller, before the connection takes something in."""
        loss = connection._loss
        recovery_start = loss._cc._congestion_recovery_start_time
        self._before = (recovery_start, loss.congestion_window, loss.bytes_in_flight, loss._pto_count)

    def after(self, connection: QuicConnection, now: float) -> None:
        """Write a row if that was an ACK, a congestion event or a probe timeout.

        Each congestion event begins a recovery, but persistent congestion ends it at once, and may leave
        the start as it was. A smaller cwnd alone is no event: CUBIC also lowers it on ACKs, to its estimate
        of Reno's.
        """
        recovery_start, cwnd, in_flight, ptos = self._before
        loss = connection._loss
        if id(connection) not in self._started:
            self._started.add(id(connection))
            self._row(loss, now, "start")
        elif loss._cc._congestion_recovery_start_time != recovery_start or _collapsed(cwnd, loss):
            self._row(loss, now, "loss")
        elif loss._pto_count > ptos:
            self._row(loss, now, "pto")
        elif loss.bytes_in_flight < in_flight:
            self._row(loss, now, "ack")

    def _row(self, loss: Any, now: float, event: str) -> None:
        cwnd, ssthresh, interval = loss.congestion_window, loss._cc.ssthresh, loss._pacer.packet_time
        self._file.write(
            f"{round(now * 1e9) + self._offset_ns},{event},{cwnd},{'' if ssthresh is None else ssthresh},"
            f"{loss.bytes_in_flight},{round(loss._rtt_smoothed * 1e6) if loss._rtt_initialized else ''},"
            f"{'' if interval is None else round(loss._pacer._max_datagram_size * 8 / interval)},"
            f"{state(cwnd, ssthresh)}\n"
        )

    def close(self) -> None:
        """Write what is left."""
        self._file.close()
