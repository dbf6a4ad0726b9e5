"""The parts of the measurement, in the order in which they are done and shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchmarks.speed import cores, counts, memory, metrics, timed
from benchmarks.speed.jobs import Part

PARTS: Mapping[str, Part] = {
    "counts": Part(
        "how often the programs of each stack enter the guest's kernel for each packet: one flow for 10 s on "
        "20 Mbps, 50 ms and one BDP of buffer",
        counts.jobs,
        exact=True,
    ),
    "duel-20": Part(
        "two flows of a contestant share 20 Mbps, 50 ms and one BDP of buffer", timed.JOBS["duel-20"], (5, 3)
    ),
    "duel-100": Part(
        "two flows of a contestant share 100 Mbps, 50 ms and one BDP of buffer",
        timed.JOBS["duel-100"],
        (3, 1),
    ),
    "flows-8": Part(
        "eight flows of a contestant share 20 Mbps, 50 ms and one BDP of buffer",
        timed.JOBS["flows-8"],
        (3, 1),
    ),
    "page": Part(
        "Chromium loads a page of 52 objects and 1 MB on 20 Mbps and 50 ms", timed.JOBS["page"], (5, 2)
    ),
    "empty": Part(
        "a tenth of a second of one flow with one byte: the fixed cost of a trial",
        timed.JOBS["empty"],
        (10, 5),
    ),
    "metrics": Part(
        "reading a trial, and computing all its metrics: seconds for a million packets", metrics.jobs, (3, 2)
    ),
    "cores": Part(
        "the same trials by `cambrian run` on one core and on two: seconds a trial",
        cores.JOBS["cores"],
        (2, 1),
    ),
    "cluster": Part(
        "the same on one worker of a Dask cluster on this machine and on two", cores.JOBS["cluster"], (2, 1)
    ),
    "memory": Part(
        "the most memory that a guest takes with all its programs; wanted without a browser: at most 512 MiB",
        memory.jobs,
    ),
}
#: a name for several parts
GROUPS: Mapping[str, tuple[str, ...]] = {"duels": ("duel-20", "duel-100", "flows-8", "empty")}


def chosen(names: Iterable[str]) -> dict[str, Part]:
    """The parts of these names and groups, in order; all without names.

    Raises:
        ValueError: there is no such part.
    """
    wanted: set[str] = set()
    for name in names:
        if name not in PARTS and name not in GROUPS:
            raise ValueError(f"no part {name}; there are {', '.join([*PARTS, *GROUPS])}")
        wanted |= set(GROUPS.get(name, (name,)))
    return {name: part for name, part in PARTS.items() if name in wanted or not wanted}
