"""Checks that this machine gives the packets that the repository ships, which came from another machine.

``shipped/packets.parquet`` has the packets of a few trials, ``shipped/trials.json`` their hashes, the
software that they ran and the machine that made them. A hash covers packets only, not the code that runs a
trial: it stays valid until a change moves a packet. ``cambrian selftest --update-hashes`` makes both files
again.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cambrian.selftest.bench import Bench, flow, packets_sha256, trial
from cambrian.selftest.check import Check
from cambrian.stacks import build, catalogue, toolchain
from cambrian.store.results import TrialResult
from cambrian.study.model import Network, Trial
from cambrian.trial import plan

UPDATE = "cambrian selftest --update-hashes"
FOLDER = Path(__file__).parent / "shipped"
PACKETS, TRIALS = FOLDER / "packets.parquet", FOLDER / "trials.json"
#: the columns of a packet trace that its hash covers (:func:`cambrian.trace.packets.fingerprint`)
COLUMNS = ("flow", "arrival_ns", "departure_ns", "size_bytes", "outcome", "ce")
#: the row about stacks that are not built
NOT_BUILT = "shipped: stacks that are not built"
#: the stacks that the self-test builds; of the others it runs those that are built
STACKS = frozenset({"tcp", "quinn", "quic-go", "google-quiche"})
#: Java compiles code for the processor, and no options hide all of its features: packets follow the processor
BY_PROCESSOR = frozenset({"kwik"})
_NETWORK = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1, loss_percent=0.1)
_DURATION_S = 3
#: stack, CCA and queue of each trial's first flow; the second is kernel CUBIC, half a second later
_DUELS = (
    ("tcp", "cubic", "droptail"),
    ("tcp", "bbr", "droptail"),
    ("tcp", "cubic", "pie"),
    ("quinn", "cubic", "droptail"),
    ("quic-go", "cubic", "droptail"),
    ("google-quiche", "cubic", "droptail"),
    ("aioquic", "cubic", "droptail"),
    ("haproxy", "cubic", "droptail"),
    ("kwik", "reno", "droptail"),
    ("msquic", "cubic", "droptail"),
    ("nginx", "builtin", "droptail"),
    ("ngtcp2", "cubic", "droptail"),
    ("ngtcp2-0.12", "cubic", "droptail"),
    ("noq", "cubic", "droptail"),
    ("openssl", "newreno", "droptail"),
    ("quiche", "cubic", "droptail"),
    ("quiche-0.24", "cubic", "droptail"),
    ("quinn-lab", "cubic", "droptail"),
    ("s2n-quic", "cubic", "droptail"),
    ("tcp-h2", "cubic", "droptail"),
    ("tquic", "cubic", "droptail"),
    ("x-net-quic", "reno", "droptail"),
)


@dataclass(frozen=True)
class Shipped:
    """One shipped trial: the hash of its packets, and kernel and stacks with their versions."""

    packets_sha256: str
    software: dict[str, str]


def trials() -> dict[str, Trial]:
    """Name → trial."""
    return {
        f"{stack} {cca}, {queue}": trial(
            _NETWORK.model_copy(update={"queue": queue}),
            flow(stack, cca),
            flow("tcp", "cubic", 500),
            duration_s=_DURATION_S,
            seed=7,
        )
        for stack, cca, queue in _DUELS
    }


def load() -> tuple[dict[str, Shipped], dict[str, str]]:
    """The shipped trials by name, and the machine that made them."""
    content = json.loads(TRIALS.read_text())
    return {name: Shipped(**row) for name, row in content["trials"].items()}, content["machine"]


def stacks() -> frozenset[str]:
    """The stacks of all trials."""
    return frozenset(name for one in trials().values() for name in plan.stack_names(one))


def built() -> frozenset[str]:
    """:data:`STACKS`, and those of :func:`stacks` that are built on this machine."""
    known = catalogue.load()
    return STACKS | {name for name in stacks() if build.status(known[name]).state == "built"}


def checks(bench: Bench) -> Iterator[Check]:
    """One row per trial; a difference names its first packet, and what differs between the machines.

    One row more names the stacks that are not built; their trials do not run.
    """
    known, machine = load()
    frame = pl.read_parquet(PACKETS, glob=False)
    there = bench.made.builds.keys()
    wanted = {name: one for name, one in trials().items() if there >= set(plan.stack_names(one))}
    if lacking := sorted(stacks() - there):
        remedy = f"cambrian stacks build {' '.join(lacking)}"
        yield Check(NOT_BUILT, "all", f"{len(lacking)}; remedy: {remedy}", ok=None)
    for name, result in zip(wanted, bench.run(list(wanted.values()), "shipped"), strict=True):
        seen = packets_sha256(result)
        row = known[name]
        if seen == row.packets_sha256:
            yield Check(f"shipped: {name}", row.packets_sha256[:12], seen[:12], ok=True)
            continue
        where = first_difference(frame.filter(pl.col("trial") == name), result.packets)
        comparable, why = cause(row.software, _software(result), machine, _machine(bench))
        ok = False if comparable else None
        yield Check(f"shipped: {name}", row.packets_sha256[:12], f"{seen[:12]}: {where}{why}", ok)


def cause(
    software: Mapping[str, str],
    software_here: Mapping[str, str],
    machine: Mapping[str, str],
    machine_here: Mapping[str, str],
) -> tuple[bool, str]:
    """Could the packets be the shipped ones, and what may be the cause that they are others, in words."""
    # another kernel or stack may send other packets: only its own version can be compared
    if other := differences(software, software_here):
        return False, f"; the shipped packets are of other software: {other}; remedy: {UPDATE}"
    others = differences(machine, machine_here)
    followers = sorted(BY_PROCESSOR & software.keys())
    if followers and machine["processor"] != machine_here["processor"]:
        return False, f"; packets of {' and '.join(followers)} follow the processor, and {others}"
    return True, f"; this machine differs: {others}" if others else ""


def update(bench: Bench) -> Path:
    """Run the trials on this machine and write both files; returns their folder.

    Raises:
        cambrian.selftest.bench.BenchError: a trial could not run, or is invalid.
    """
    wanted = trials()
    results = dict(zip(wanted, bench.run(list(wanted.values()), "shipped"), strict=True))
    FOLDER.mkdir(exist_ok=True)
    frames = [
        result.packets.select(pl.lit(name).alias("trial"), *COLUMNS) for name, result in results.items()
    ]
    pl.concat(frames).write_parquet(PACKETS, compression="zstd", compression_level=22)
    rows = {
        name: asdict(Shipped(packets_sha256(result), _software(result))) for name, result in results.items()
    }
    content = {"made_by": UPDATE, "machine": _machine(bench), "trials": rows}
    TRIALS.write_text(json.dumps(content, indent=1) + "\n")
    return FOLDER


def first_difference(expected: pl.DataFrame, seen: pl.DataFrame) -> str:
    """Where two packet traces part, in words."""
    height = min(expected.height, seen.height)
    pairs = zip(*(frame.select(COLUMNS).head(height).rows() for frame in (expected, seen)), strict=True)
    for number, (before, after) in enumerate(pairs):
        if before != after:
            changes = ", ".join(filter(None, map(_change, COLUMNS, before, after)))
            flow_number, at_ns, *_ = before
            return f"packet {number} (flow {flow_number}, {at_ns / 1e9:.6f} s): {changes}"
    return f"{seen.height} packets instead of {expected.height}, the same up to there"


def differences(expected: Mapping[str, str], seen: Mapping[str, str]) -> str:
    """What has another value, in words; empty if nothing has."""
    names = sorted({*expected, *seen})
    return ", ".join(
        f"{name} {seen.get(name, 'none')} instead of {expected.get(name, 'none')}"
        for name in names
        if seen.get(name) != expected.get(name)
    )


def _change(column: str, before: Any, after: Any) -> str:
    if before == after:
        return ""
    if column.endswith("_ns") and before is not None and after is not None:
        return f"{column.removesuffix('_ns')} {after - before:+d} ns"
    return f"{column} {after} instead of {before}"


def _software(result: TrialResult) -> dict[str, str]:
    """Kernel and stacks of a trial, with their versions; the kernel is the stack tcp."""
    stacks = {
        name: str(stack["version"]) for name, stack in result.manifest["stacks"].items() if name != "tcp"
    }
    return {"kernel": str(result.manifest["kernel"]["version"])} | stacks


def _machine(bench: Bench) -> dict[str, str]:
    """What of this machine could show in packets, and must not."""
    return {
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()),
        "compiler": toolchain.cc().version,
        "processor": processor(Path("/proc/cpuinfo").read_text()),
        "wall": bench.made.wall.name,
        "programs run by": "seccomp" if bench.made.seccomp else "ptrace",
    }


def processor(cpuinfo: str) -> str:
    """Name, family, model, stepping and hash of features of the first processor in ``/proc/cpuinfo``'s text.

    A virtual machine may show one name for different processors, such as "AMD EPYC".
    """
    first = cpuinfo.partition("\n\n")[0].splitlines()
    known = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first)}
    features = hashlib.sha256(" ".join(sorted(known.get("flags", "").split())).encode()).hexdigest()[:8]
    numbers = " ".join(f"{key} {known.get(key, '?')}" for key in ("cpu family", "model", "stepping"))
    return f"{known.get('model name', 'unknown')}, {numbers}, features {features}"
