"""How often the programs of a stack enter the guest's kernel, for each packet.

An entry is a system call, a page fault or another trap of the sending or the receiving program. Each is a
hand-over: the guest's kernel stops the program, does its work, and lets it go on. Hand-overs decide how fast
a trial runs, and their number is the same in every run and on every machine, but for the page faults of
programs that load the machine's own libraries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.speed import trials
from benchmarks.speed.jobs import Asked, Job, Row
from benchmarks.speed.sides import Side, SideError
from cambrian.study import cost

#: quantity → heading
QUANTITIES = {
    "calls": "calls",
    "in_vain": "in vain",
    "page_faults": "page faults",
    "traps": "traps",
    "hand_overs": "hand-overs",
}
#: the stacks that CI builds; a quick run counts these
BUILT_IN_CI = ("tcp", "quinn", "quic-go", "google-quiche", "tcp-h2")
#: a rise beyond this share is a fault
MOST_RISE = 0.05
#: a rise below this, for each packet, is none: one more call at a program's start is no matter, and another
#: machine's libraries have other page faults
_START, _LIBRARIES = 0.002, 0.02
LEAST_RISE = {
    "calls": _START,
    "in_vain": _START,
    "page_faults": _LIBRARIES,
    "traps": _START,
    "hand_overs": _LIBRARIES,
}


def counts_of(manifest: Mapping[str, Any]) -> Row:
    """The sums over all programs of all flows in a trial's manifest."""
    guest = manifest["guest"]
    entries = [
        process["kernel_entries"] for process in guest["processes"].values() if "kernel_entries" in process
    ]
    calls = sum(made for side in entries for made, _ in side["calls"].values())
    page_faults = sum(side["page_faults"] for side in entries)
    traps = sum(side["traps"] for side in entries)
    return {
        "packets": guest["counters"]["bottleneck"][0]["sent_packets"],
        "calls": calls,
        "in_vain": sum(failed for side in entries for _, failed in side["calls"].values()),
        "page_faults": page_faults,
        "traps": traps,
        "hand_overs": calls + page_faults + traps,
    }


def per_packet(row: Row, quantity: str) -> float:
    """The count for each packet that left the bottleneck."""
    return float(row[quantity] / max(row["packets"], 1))


def jobs(asked: Asked) -> list[Job]:
    """A job a stack."""
    names = asked.contestants or (
        [trials.named(stack) for stack in BUILT_IN_CI] if asked.quick else trials.every_stack()
    )
    return [_job(name) for name in names]


def _job(name: str) -> Job:
    trial = trials.alone(name)
    content = trial.model_dump(mode="json")

    def work(side: Side) -> Row:
        answer = side.ask("trial", trial=content)
        if answer["reasons"]:
            raise SideError(f"{side.name}: {name} is not valid: {'; '.join(answer['reasons'])}")
        manifest = answer["manifest"]
        return counts_of(manifest) | {"packets_sha256": manifest["packets_sha256"]}

    return Job(name, cost.DEFAULT_SPEED.wall_s(trial), trials.stacks(trial), work)


def risen(found: Mapping[str, Row], kept: Mapping[str, Row]) -> list[str]:
    """A sentence for each count that is higher than the kept one, and for each stack without kept counts."""
    worse = []
    for name, row in found.items():
        if name not in kept:
            worse.append(f"{name}: no counts are kept; keep them with --only counts --update {name}")
            continue
        for quantity, heading in QUANTITIES.items():
            now, before = per_packet(row, quantity), per_packet(kept[name], quantity)
            if now - before > max(before * MOST_RISE, LEAST_RISE[quantity]):
                worse.append(f"{name}: {now:.3f} {heading} for each packet, {before:.3f} before")
    return worse
