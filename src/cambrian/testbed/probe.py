"""The base round trip, measured inside the guest before any flow starts."""

from __future__ import annotations

import socket
import struct

from cambrian.testbed import addresses as at
from cambrian.testbed import system

_IDENTIFIER = 0x0CA8
#: include/uapi/asm-generic/socket.h and linux/net_tstamp.h
_SO_TIMESTAMPING = 37
_RX_SOFTWARE, _SOFTWARE, _TX_SCHED, _TIMESTAMP_ONLY = 1 << 3, 1 << 4, 1 << 8, 1 << 11


def _checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _echo_request(number: int) -> bytes:
    head = struct.pack("!BBHHH", 8, 0, 0, _IDENTIFIER, number)
    return struct.pack("!BBHHH", 8, 0, _checksum(head), _IDENTIFIER, number)


def _stamp_ns(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    """The software time stamp among a message's control data (``struct scm_timestamping``)."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPING):
            seconds, nanoseconds = struct.unpack_from("qq", data)
            return int(seconds) * 1_000_000_000 + int(nanoseconds)
    return None


def _round_trip_ns(probe: socket.socket, number: int) -> int | None:
    """One ICMP echo; None when it is lost (the socket's timeout passes).

    From the kernel's stamp on entry to the sender's queue to its stamp on the reply's
    reception: a program's own clock reads would each add 256 ns.
    """
    request = _echo_request(number)
    probe.send(request)
    sent_ns = _stamp_ns(probe.recvmsg(2048, 1024, socket.MSG_ERRQUEUE)[1])
    try:
        while True:
            reply, ancillary, _, _ = probe.recvmsg(2048, 1024)
            header = (reply[0] & 15) * 4
            if reply[header] == 0 and reply[header + 4 : header + 8] == request[4:]:
                received_ns = _stamp_ns(ancillary)
                return None if sent_ns is None or received_ns is None else received_ns - sent_ns
    except TimeoutError:
        return None


def base_rtt_ns(namespace: str, *, wanted: int = 2, probes: int = 10, timeout_s: float = 25.0) -> int | None:
    """Smallest of ``wanted`` round trips from a sender's namespace to the receivers' host.

    Tries up to ``probes`` times, since links may lose; None when no echo came back.
    Waiting costs no wall-clock time in virtual time.
    """
    with system.inside(at.namespace_path(namespace)):
        probe = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    seen: list[int] = []
    with probe:
        stamps = _RX_SOFTWARE | _SOFTWARE | _TX_SCHED | _TIMESTAMP_ONLY
        probe.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, stamps)
        probe.settimeout(timeout_s)
        probe.connect((at.RECEIVER_ADDRESS, 0))
        for number in range(probes):
            measured = _round_trip_ns(probe, number)
            if measured is not None:
                seen.append(measured)
            if len(seen) == wanted:
                break
    return min(seen, default=None)
