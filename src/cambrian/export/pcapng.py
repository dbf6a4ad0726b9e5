"""Whole packets of a repeated trial → pcapng files that Wireshark opens and decrypts.

One file for each end of the bottleneck, because a packet that is in a capture twice looks like a
retransmission. In each, a flow has an interface of its own. Time stamps are nanoseconds of the trial's
clock; the secrets stand in a decryption-secrets block before the packets.
Sources: draft-ietf-opsawg-pcapng, the packages' `python-pcapng`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import BinaryIO, NamedTuple

import numpy as np
import polars as pl
from pcapng import FileWriter, blocks
from pcapng.constants import link_types
from pcapng.structs import IntField, OptionsField, PacketBytes

from cambrian.export.errors import ExportError

#: head of the capture's pcap file, and of each packet in it (testbed/native/capture.c)
_FILE_HEAD, _PACKET_HEAD = Struct("<IHHIIII"), Struct("<IIII")
_NANOSECONDS = 0xA1B23C4D
_NS_PER_S = 1_000_000_000
#: if_tsresol of nanoseconds: a negative power of ten
_TSRESOL = b"\x09"
#: "TLSK": the secrets are a key log of NSS
_TLS_KEY_LOG = 0x544C534B
_ETHERNET_BYTES = 14
#: place of the addresses in an IPv4 packet, and the first half of the receivers' (testbed/addresses.py)
_SOURCE, _DESTINATION, _RECEIVERS = slice(12, 16), slice(16, 20), bytes((10, 9))
_CHECKSUMS = "TCP's and UDP's checksums are incomplete, as with checksum offload"
_DIFFERS = "the capture of whole packets differs from the trial's records; remedy: report this, it is a fault"
_DROPPED = "dropped by the bottleneck's queue"
_QUEUED = "still in the bottleneck's queue at the trial's end"


class DecryptionSecrets(blocks.SectionMemberBlock):  # type: ignore[misc]  # the library has no types
    """The block that python-pcapng lacks (draft-ietf-opsawg-pcapng, section 4.7)."""

    magic_number = 0x0000000A
    __slots__ = ()
    schema = [  # noqa: RUF012 - as in the library's own blocks
        ("secrets_type", IntField(32, False), _TLS_KEY_LOG),
        ("secrets_length", IntField(32, False), 0),
        ("secrets", PacketBytes("secrets_length"), b""),
        ("options", OptionsField([]), None),
    ]


class Packet(NamedTuple):
    """One captured IPv4 packet. ``time_ns``: after the trial's zero. ``flow``: the study's number."""

    time_ns: int
    flow: int
    to_receiver: bool
    content: bytes


@dataclass(frozen=True)
class Capture:
    """What is common to a trial's files.

    ``flows``: the name of each flow, in the study's order. ``zero_ns``: the trial's zero, CLOCK_REALTIME.
    ``keys``: a key log; empty for none.
    """

    trial: str
    flows: Sequence[str]
    zero_ns: int
    keys: bytes
    software: str
    kernel: str


def read(path: Path, flow_of: Mapping[int, int], *, zero_ns: int, end_ns: int) -> Iterator[Packet]:
    """The flows' packets of a pcap file of the capture, from the trial's zero to its end, in order of time.

    The order is stable, as that of the trial's records (:mod:`cambrian.trace.packets`). The packets stay in
    the file until their turn, because those of a fast link fill the memory.
    ``flow_of``: position in the testbed → the study's number of the flow.

    Raises:
        ExportError: the file is none of the capture's, or is cut short.
    """
    with path.open("rb") as file:
        head = file.read(_FILE_HEAD.size)
        if len(head) < _FILE_HEAD.size or _FILE_HEAD.unpack(head)[0] != _NANOSECONDS:
            raise ExportError(f"{path.name} is no capture of whole packets")
        times_ns, offsets = array("q"), array("q")
        for stamp_ns, content in _from_here(file):
            if 0 <= stamp_ns - zero_ns < end_ns:
                times_ns.append(stamp_ns - zero_ns)
                offsets.append(file.tell() - len(content) - _PACKET_HEAD.size)
        for number in np.argsort(np.asarray(times_ns), kind="stable"):
            file.seek(offsets[number])
            _, content = next(_from_here(file))
            source, destination = content[_SOURCE], content[_DESTINATION]
            to_receiver = destination[:2] == _RECEIVERS
            position = (source if to_receiver else destination)[2]
            if position in flow_of:
                yield Packet(times_ns[number], flow_of[position], to_receiver, content)


def _from_here(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The next packets of a capture: the time, in nanoseconds since 1970, and the content of each.

    Raises:
        ExportError: the file is cut short.
    """
    cut = ExportError(f"{Path(file.name).name} is cut short; remedy: export the trial again")
    while head := file.read(_PACKET_HEAD.size):
        if len(head) < _PACKET_HEAD.size:
            raise cut
        seconds, ns, size_bytes, whole_bytes = _PACKET_HEAD.unpack(head)
        content = file.read(size_bytes)
        if len(content) < size_bytes or size_bytes < whole_bytes:
            raise cut
        yield seconds * _NS_PER_S + ns, content


def before_the_queue(
    path: Path, capture: Capture, seen: Iterator[Packet], packets: pl.DataFrame
) -> dict[str, int]:
    """Write what the router received, from the senders and from the receivers, with a comment on drops.

    ``packets`` are the repeated trial's.

    Raises:
        ExportError: the capture has other packets than the trial.
    """
    rows = packets.select("flow", "arrival_ns", "size_bytes", "outcome").iter_rows()
    said = {"dropped": _DROPPED, "queued": _QUEUED}

    def comment(packet: Packet) -> str:
        if not packet.to_receiver:
            return ""
        flow, arrival_ns, size_bytes, outcome = next(rows, (None, None, 0, ""))
        if (flow, arrival_ns, size_bytes) != (packet.flow, packet.time_ns, _frame_bytes(packet)):
            raise ExportError(_DIFFERS)
        return said.get(outcome, "")

    place = "the router: data before the bottleneck's queue; ACKs before the delay of the way back"
    counts = _write(path, capture, seen, place, comment)
    if next(rows, None) is not None:
        raise ExportError(_DIFFERS)
    return counts


def after_the_queue(path: Path, capture: Capture, seen: Iterator[Packet]) -> dict[str, int]:
    """Write what the receivers' host received and sent."""
    place = "the receivers' host: data after the bottleneck's queue; ACKs as they are sent"
    return _write(path, capture, seen, place, lambda packet: "")


def _write(
    path: Path, capture: Capture, packets: Iterator[Packet], place: str, comment: Callable[[Packet], str]
) -> dict[str, int]:
    counts = {"packets": 0, "comments": 0}
    with path.open("wb") as file:
        writer = _begin(file, capture, place)
        section = writer.current_section
        for packet in packets:
            stamp = capture.zero_ns + packet.time_ns
            text = comment(packet)
            writer.write_block(
                section.new_member(
                    blocks.EnhancedPacket,
                    interface_id=packet.flow,
                    timestamp_high=stamp >> 32,
                    timestamp_low=stamp & 0xFFFF_FFFF,
                    packet_data=packet.content,
                    options={"opt_comment": text} if text else {},
                )
            )
            counts["packets"] += 1
            counts["comments"] += bool(text)
    return counts


def _begin(file: BinaryIO, capture: Capture, place: str) -> FileWriter:
    """A section with an interface for each flow, and the secrets."""
    section = blocks.SectionHeader(
        options={
            "opt_comment": f"Cambrian's trial {capture.trial}; its zero is {capture.zero_ns} ns since 1970, "
            "on the guest's clock",
            "shb_os": capture.kernel,
            "shb_userappl": capture.software,
        }
    )
    for number, name in enumerate(capture.flows):
        section.new_member(
            blocks.InterfaceDescription,
            link_type=link_types.LINKTYPE_RAW,
            options={
                "if_name": f"flow {number}: {name}",
                "if_description": f"{place}; {_CHECKSUMS}",
                "if_tsresol": _TSRESOL,
            },
        )
    writer = FileWriter(file, section)
    if capture.keys:
        secrets = section.new_member(
            DecryptionSecrets, secrets_length=len(capture.keys), secrets=capture.keys
        )
        writer.write_block(secrets)
    return writer


def _frame_bytes(packet: Packet) -> int:
    """As the trial's records count a packet."""
    return len(packet.content) + _ETHERNET_BYTES
