"""How often do the programs of each stack enter the guest's kernel, for each packet?

    .venv/bin/python benchmarks/kernel_entries.py [--check | --update] [--every-stack | STACK:CCA…]

One flow of each contestant for 10 virtual seconds on 20 Mbps, 50 ms and one BDP of buffer. An entry is a
system call or a fault of the sending or the receiving program. It costs some ten microseconds, and it
decides how fast a trial runs. The counts are the same on every machine and in every run, but for the faults
of programs that load the machine's own libraries. "packets" left the bottleneck: the denominator of all
other columns. "in vain" are calls that returned an error.

``kernel_entries.json``, beside this file, has the calls for each packet of each stack. ``--check`` compares:
exit status 1 if one has risen by more than 5 %. ``--update`` writes the file.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("POLARS_MAX_THREADS", "1")

from rich.console import Console
from rich.progress import track
from rich.table import Table

from cambrian.run import prepare
from cambrian.stacks import catalogue
from cambrian.store.results import Results
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trial import carry_out, plan
from cambrian.trial.environment import Environment

NETWORK = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)
DURATION_S = 10
KEPT = Path(__file__).with_suffix(".json")
#: a rise of the calls for each packet beyond this share is a fault
MOST_RISE = 0.05


@dataclass(frozen=True)
class Counts:
    """The sums over both programs of a flow; ``cpu_s`` is the whole guest's, with its boot."""

    packets: int
    calls: int
    in_vain: int
    page_faults: int
    traps: int
    cpu_s: float

    def per_packet(self, count: float) -> float:
        """``count`` for each packet that left the bottleneck."""
        return count / self.packets


def counts_of(manifest: dict[str, Any]) -> Counts:
    """The counts in a trial's manifest."""
    guest = manifest["guest"]
    entries = [
        process["kernel_entries"] for process in guest["processes"].values() if "kernel_entries" in process
    ]
    return Counts(
        packets=guest["counters"]["bottleneck"][0]["sent_packets"],
        calls=sum(made for side in entries for made, _ in side["calls"].values()),
        in_vain=sum(failed for side in entries for _, failed in side["calls"].values()),
        page_faults=sum(side["page_faults"] for side in entries),
        traps=sum(side["traps"] for side in entries),
        cpu_s=manifest["cpu_s"],
    )


def measured(trial: Trial, made: Environment, core: int) -> Counts:
    """Run the trial and read its counts."""
    with tempfile.TemporaryDirectory(prefix="cambrian-bench-") as folder:
        results = Results(Path(folder))
        outcome = carry_out.run(trial, made, results, core=core)
        if not outcome.valid:
            raise SystemExit(f"{trial.flows[0].contestant.name}: not valid: {'; '.join(outcome.reasons)}")
        return counts_of(results.trial(outcome.trial_id).manifest)


def every_stack() -> list[str]:
    """STACK:CCA of each stack of the catalogue: CUBIC, or the first that a stack has."""
    return [
        f"{name}:{'cubic' if 'cubic' in ccas else next(iter(ccas))}"
        for name, ccas in sorted(catalogue.ccas().items())
    ]


def show(found: dict[str, Counts]) -> None:
    """Print a row a contestant, the most calls last."""
    table = Table(title=f"{NETWORK.rate_mbps:g} Mbps, {NETWORK.rtt_ms:g} ms, {DURATION_S} s; for each packet")
    for heading in ("stack", "packets", "calls", "in vain", "page faults", "traps", "CPU µs"):
        table.add_column(heading, justify="left" if heading == "stack" else "right")
    for name, counts in sorted(found.items(), key=lambda item: item[1].per_packet(item[1].calls)):
        shares = (counts.calls, counts.in_vain, counts.page_faults, counts.traps)
        table.add_row(
            name,
            f"{counts.packets:,}",
            *(f"{counts.per_packet(share):.2f}" for share in shares),
            f"{counts.per_packet(counts.cpu_s * 1e6):.0f}",
        )
    Console().print(table)


def risen(found: dict[str, Counts], kept: dict[str, float]) -> list[str]:
    """A sentence for each stack that makes more calls for each packet than it did."""
    return [
        f"{name}: {now:.3f} calls for each packet, {kept[name]:.3f} before"
        for name, counts in found.items()
        if name in kept and (now := counts.per_packet(counts.calls)) > kept[name] * (1 + MOST_RISE)
    ]


def main() -> None:
    """Measure, print, and compare or keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "contestants", nargs="*", default=["tcp:cubic", "quinn:cubic", "quic-go:cubic", "google-quiche:cubic"]
    )
    parser.add_argument("--every-stack", action="store_true", help="all of the catalogue, built if need be")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--check", action="store_true", help="exit status 1 if calls have risen")
    task.add_argument("--update", action="store_true", help=f"write {KEPT.name}")
    asked = parser.parse_args()
    trials = {}
    for text in every_stack() if asked.every_stack else asked.contestants:
        stack, _, cca = text.partition(":")
        flow = Flow(contestant=Contestant(stack=stack, cca=cca))
        trials[text] = Trial(network=NETWORK, flows=(flow,), duration_s=DURATION_S)
    made = prepare.ensure({name for trial in trials.values() for name in plan.stack_names(trial)})
    found = {
        name: measured(trial, made, asked.core)
        for name, trial in track(trials.items(), "trials", console=Console(stderr=True))
    }
    show(found)
    kept: dict[str, float] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if asked.update:
        kept |= {name: round(counts.per_packet(counts.calls), 3) for name, counts in found.items()}
        KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
    elif asked.check and (worse := risen(found, kept)):
        raise SystemExit("\n".join(worse))


if __name__ == "__main__":
    main()
