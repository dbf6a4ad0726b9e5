"""The queues that a bottleneck can have, one row each; testbed/qdiscs.py encodes their netlink messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Queue = Literal["droptail", "codel", "fq", "fq_codel", "pie", "fq_pie", "red", "cake", "dualpi2"]


@dataclass(frozen=True)
class Aqm:
    """A queue with active management (all except drop-tail).

    ``limit``: the unit of its buffer in the kernel. ``ecn``: whether it marks if the study sets ``ecn``,
    always, or never. ``one_line``: all flows share one FIFO; without it, packets of one flow can
    overtake those of another.
    ``knobs``: the keys of a network that it takes.
    """

    limit: Literal["packets", "bytes", "memory"] = "packets"
    ecn: Literal["if set", "always", "never"] = "if set"
    one_line: bool = False
    knobs: tuple[Literal["aqm_target_ms", "aqm_interval_ms"], ...] = ("aqm_target_ms", "aqm_interval_ms")


AQMS: Mapping[Queue, Aqm] = {
    "codel": Aqm(one_line=True),
    "fq": Aqm(ecn="never", knobs=()),
    "fq_codel": Aqm(),
    "pie": Aqm(one_line=True),
    "fq_pie": Aqm(),
    "red": Aqm(limit="bytes", one_line=True, knobs=()),
    "cake": Aqm(limit="memory", ecn="always"),
    "dualpi2": Aqm(ecn="always"),
}
#: queues with one FIFO for all flows
ONE_QUEUE: tuple[Queue, ...] = ("droptail", *(name for name, aqm in AQMS.items() if aqm.one_line))
