"""duel-20: how much faster than real time does a trial run?

    .venv/bin/python benchmarks/duel.py [--core N] [--repeats N] [--against KERNEL] [STACK:CCA…]

Two flows of one contestant share 20 Mbps, 50 ms and one BDP of buffer for 60 virtual seconds,
each packet captured. The figure is virtual seconds over wall seconds on one pinned core, from
the plan to the finished results folder: boot, trial, capture, reading and writing of the
traces. "empty" is the fixed cost: a tenth of a second of one flow. Run it on an idle machine;
each repeat goes round all contestants, and the median counts.

``--against`` names another kernel's binary (one of the cache's ``kernel/*/linux``, say). Each trial then runs
on both in turn. The ratio of the two medians is the speed-up, and the packets must be the same.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")

from cambrian.kernel import locate
from cambrian.run import prepare
from cambrian.store.results import Results
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trial import carry_out, plan
from cambrian.trial.environment import Environment

NETWORK = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)
DURATION_S = 60
EMPTY_S = 0.1


def duel(stack: str, cca: str) -> Trial:
    """Two flows of the same contestant."""
    flow = Flow(contestant=Contestant(stack=stack, cca=cca))
    return Trial(network=NETWORK, flows=(flow, flow), duration_s=DURATION_S)


def empty() -> Trial:
    """As good as nothing happens."""
    flow = Flow(contestant=Contestant(stack="tcp", cca="cubic"), size_bytes=1)
    return Trial(network=NETWORK, flows=(flow,), duration_s=EMPTY_S)


def timed(trial: Trial, made: Environment, core: int) -> tuple[float, str]:
    """Wall seconds from the plan to the finished folder, and the fingerprint of the packets."""
    with tempfile.TemporaryDirectory(prefix="cambrian-bench-") as folder:
        began = time.perf_counter()
        results = Results(Path(folder))
        outcome = carry_out.run(trial, made, results, core=core)
        wall_s = time.perf_counter() - began
        packets = str(results.trial(outcome.trial_id).manifest["packets_sha256"])
    if not outcome.valid and trial.duration_s > 1:
        raise SystemExit(f"{trial.flows[0].contestant.name}: not valid: {'; '.join(outcome.reasons)}")
    return wall_s, packets


def shown(walls: list[float]) -> str:
    """Median and range."""
    return f"{statistics.median(walls):.2f} ({min(walls):.2f}–{max(walls):.2f})"


def main() -> None:
    """Print a row a contestant."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "contestants", nargs="*", default=["tcp:cubic", "quinn:cubic", "quic-go:cubic", "google-quiche:cubic"]
    )
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--against", type=Path, metavar="KERNEL", help="compare with this kernel")
    asked = parser.parse_args()
    pairs = [tuple(text.split(":")) for text in asked.contestants]
    trials = {f"{stack} {cca}": duel(stack, cca) for stack, cca in pairs} | {"empty": empty()}
    made = prepare.ensure({name for trial in trials.values() for name in plan.stack_names(trial)})
    environments = {"this kernel": made}
    if asked.against:
        environments["the other"] = replace(made, kernel=locate.from_binary(asked.against))
    os.sched_setaffinity(0, {asked.core})
    timed(empty(), made, asked.core)
    walls: dict[tuple[str, str], list[float]] = defaultdict(list)
    packets: dict[str, set[str]] = defaultdict(set)
    for _ in range(asked.repeats):
        for name, trial in trials.items():
            for kernel, environment in environments.items():
                wall_s, fingerprint = timed(trial, environment, asked.core)
                walls[name, kernel].append(wall_s)
                packets[name].add(fingerprint)
    print("wall s: median (min–max); virtual/wall of the median" + "; the other kernel" * bool(asked.against))
    for name in trials:
        median = statistics.median(walls[name, "this kernel"])
        row = f"{name:24} {shown(walls[name, 'this kernel']):24}"
        row += f" {'':6}" if name == "empty" else f" {DURATION_S / median:6.1f}"
        if asked.against:
            other = walls[name, "the other"]
            row += f"  {shown(other):24} ratio {statistics.median(other) / median:.2f}"
            row += ", the same packets" if len(packets[name]) == 1 else ", OTHER PACKETS"
        print(row)


if __name__ == "__main__":
    main()
