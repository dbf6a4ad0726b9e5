"""The range of each number and text of a study, with the reason for its ends.

A value at an end of its range runs. The tables of docs/reference/study-keys.md show the ranges.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

#: bytes of Ethernet header that the qdiscs count in addition to the IP packet
ETHERNET_HEADER_BYTES = 14
#: Largest IP packet on every link.
MTU_BYTES = 1500
#: largest frame in a queue's count
FRAME_BYTES = MTU_BYTES + ETHERNET_HEADER_BYTES
#: Packets under way and in the bottleneck's buffer: a guest has 768 MiB of memory, and the kernel needs half
#: as much again for each packet as the packet has bytes. The queues' own 32-bit limits are above this.
MOST_PATH_BYTES = 256 * 2**20
#: A flow without a size asks for as many bytes (docs/reference/endpoint-contract.md).
LARGEST_FLOW_BYTES = 1_000_000_000_000
#: Each handover takes the next address of 10.9.0.0/16.
MOST_HANDOVERS = 255
#: steps of a schedule: one each 3.6 s of the longest trial
MOST_CHANGES = 10_000
#: contestants, line-ups, pages, or patterns of a profile
MOST_LISTED = 1000
#: cells of all networks' grids; a network needs a row in tables and a panel in figures
MOST_NETWORKS = 10_000
#: An expanded trial needs 3 KiB (39 KiB with 64 flows) of memory here, and a second or more to run.
MOST_TRIALS = 200_000

#: a frame takes 1.2 s at the lowest rate; beyond the highest rate the guest is slower than a CPU can be
RateMbps = Annotated[float, Field(ge=0.01, le=10_000)]
#: from 39 ticks of the guest's clock to 18 times a path over a geostationary satellite
RttMs = Annotated[float, Field(ge=0.01, le=10_000)]
#: netem keeps jitter as nanoseconds in 31 bits
JitterMs = Annotated[float, Field(ge=0, le=2000)]
#: the longest trial has 10 hours
DurationS = Annotated[float, Field(gt=0, le=36_000)]
TimeS = Annotated[float, Field(ge=0, le=36_000)]
StartMs = Annotated[float, Field(ge=0, le=36_000_000)]
Seeds = Annotated[int, Field(gt=0, le=10_000)]
Percent = Annotated[float, Field(ge=0, le=100)]
#: netem counts probabilities in units of 2.3e-8 %; below one unit the state never changes
StateChangePercent = Annotated[float, Field(ge=0.000_001, le=100)]
#: less than one frame holds no packet
BufferBytes = Annotated[int, Field(ge=FRAME_BYTES, le=MOST_PATH_BYTES)]
BufferPackets = Annotated[int, Field(ge=1, le=MOST_PATH_BYTES // FRAME_BYTES)]
#: the buffer in bytes is checked too (:func:`path_problem`)
BufferBdp = Annotated[float, Field(ge=0.001, le=10_000)]
#: the kernel's AQMs count whole microseconds in 32 bits, and some of them in units of 1024 ns
AqmTargetMs = Annotated[float, Field(ge=0.01, le=10_000)]
#: PIE's timer runs at this interval
AqmIntervalMs = Annotated[float, Field(ge=0.1, le=10_000)]

#: options are read as 64-bit numbers
OptionWhole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
OptionNumber = Annotated[float, Field(ge=-1e18, le=1e18)]

#: one line without control characters
Line = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]*$", max_length=1000)]
#: lines and tabs
Text = Annotated[str, Field(pattern=r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$", max_length=100_000)]
#: a name that is not empty
Word = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+$", max_length=1000)]
#: names become names of folders, which Linux limits to 255 bytes
MOST_NAME = 100
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=MOST_NAME)]
LineupName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=MOST_NAME)]
#: ``--set NAME=VALUE`` ends the name at the first "="
OptionName = Annotated[str, Field(pattern=r"^[^\s=\x00-\x1f\x7f-\x9f]+$", max_length=100)]
OptionValue = Annotated[
    Line | OptionWhole | OptionNumber | bool,
    Field(
        description="text, a number, true or false: text of one line and at most 1,000 characters, whole "
        "numbers of 64 bits, other numbers from -1e18 to 1e18"
    ),
]


def bdp_bytes(rate_mbps: float, rtt_ms: float) -> float:
    """Bandwidth-delay product: 10^6 bit/s × 10^-3 s, in bytes."""
    return rate_mbps * 1e6 * rtt_ms / 1e3 / 8


def path_problem(key: str, buffer_bytes: float, bdp_bytes: float) -> str | None:
    """``problem: remedy`` if the buffer, given by ``key``, and the path hold more than a guest can."""
    if buffer_bytes + bdp_bytes <= MOST_PATH_BYTES:
        return None
    return (
        f"a buffer of {buffer_bytes:,.0f} bytes and a path of {bdp_bytes:,.0f} bytes (rate × RTT) do not fit "
        f"into the {MOST_PATH_BYTES:,} bytes that a guest can hold: "
        f"give a smaller {key}, rate_mbps or rtt_ms"
    )
