"""Which inputs the transport log calls a congestion event."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from aioquic.quic.congestion.cubic import CubicCongestionControl
from aioquic.quic.packet import QuicPacketType
from aioquic.quic.packet_builder import QuicSentPacket
from aioquic.tls import Epoch
from controller import TransportLog


def packet(number: int, sent_time: float) -> QuicSentPacket:
    return QuicSentPacket(
        Epoch.ONE_RTT, True, True, True, number, QuicPacketType.ONE_RTT, sent_time=sent_time, sent_bytes=1200
    )


def test_a_window_lowered_by_an_acknowledgement_is_no_congestion_event(tmp_path: Path) -> None:
    cubic = CubicCongestionControl(max_datagram_size=1200)
    pacer = SimpleNamespace(packet_time=None, _max_datagram_size=1200)
    loss = SimpleNamespace(_cc=cubic, _pto_count=0, _pacer=pacer, _rtt_initialized=False)
    connection = SimpleNamespace(_loss=loss)
    log = TransportLog(str(tmp_path / "log.csv"))
    windows = []

    def take_in(
        now: float, *, acked: int | None = None, lost: int | None = None, collapses: bool = False
    ) -> None:
        loss.congestion_window, loss.bytes_in_flight = cubic.congestion_window, cubic.bytes_in_flight
        log.before(connection)  # type: ignore[arg-type]
        if acked is not None:
            cubic.on_packet_acked(now=now, packet=packet(acked, now - 0.05))
        if lost is not None:
            cubic.on_packets_lost(now=now, packets=[packet(lost, now - 0.05)])
        if collapses:
            cubic.on_persistent_congestion()
        loss.congestion_window, loss.bytes_in_flight = cubic.congestion_window, cubic.bytes_in_flight
        log.after(connection, now)  # type: ignore[arg-type]
        windows.append(cubic.congestion_window)

    for number in range(20):
        cubic.on_packet_sent(packet=packet(number, 0.9))
    take_in(1.0, acked=0)
    take_in(1.1, lost=1)
    take_in(1.2, acked=2)
    cubic._W_max = 0  # the estimate of Reno's window counts,
    cubic.congestion_window += 500  # and is smaller
    take_in(1.3, acked=3)
    # after persistent congestion no recovery has begun, before and after another one
    for at in (1.4, 1.5):
        cubic.congestion_window = 9000
        take_in(at, collapses=True)
    log.close()

    assert windows[3] < windows[2] + 500
    rows = (tmp_path / "log.csv").read_text().splitlines()[1:]
    assert [row.split(",")[1] for row in rows] == ["start", "loss", "ack", "ack", "loss", "loss"]
