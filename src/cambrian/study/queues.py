"""The queues that a bottleneck can have: one row each, and the qdisc's encoder in testbed/qdiscs.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Queue = Literal["droptail", "codel", "fq", "fq_codel", "pie", "fq_pie", "red", "cake", "dualpi2"]


@dataclass(frozen=True)
class Aqm:
    """A queue that is not drop-tail.

    ``limit``: what the kernel counts its buffer in. ``ecn``: whether it marks when a study says so,
    always, or never. ``one_line``: all flows stand in one line; in the others one flow's packet may
    overtake another's.
    ``knobs``: the keys of a network that it takes.
    """

    limit: Literal["packets", "bytes", "memory"] = "packets"
    ecn: Literal["if told", "always", "never"] = "if told"
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
#: those that hold all flows in one line
ONE_QUEUE: tuple[Queue, ...] = ("droptail", *(name for name, aqm in AQMS.items() if aqm.one_line))
