"""duel-20: how much faster than real time does a trial run?

    .venv/bin/python benchmarks/duel.py [--core N] [--repeats N] [STACK:CCA…]

Two flows of one contestant share 20 Mbps, 50 ms and one BDP of buffer for 60 virtual seconds,
each packet captured. The figure is virtual seconds over wall seconds on one pinned core, from
the plan to the finished results folder: boot, trial, capture, reading and writing of the
traces. "empty" is the fixed cost: a tenth of a second of one flow. Run it on an idle machine;
each repeat goes round all contestants, and the median counts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")

from cambrian.run import prepare
from cambrian.store.results import Results
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trial import carry_out, plan
from cambrian.trial.environment import Environment

NETWORK = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)
DURATION_S = 60
EMPTY_S = 0.1
#: virtual/wall that each stack is meant to reach
TARGETS = {"tcp": 30, "quinn": 12, "quic-go": 5, "google-quiche": 5}


def duel(stack: str, cca: str) -> Trial:
    """Two flows of the same contestant."""
    flow = Flow(contestant=Contestant(stack=stack, cca=cca))
    return Trial(network=NETWORK, flows=(flow, flow), duration_s=DURATION_S)


def empty() -> Trial:
    """As good as nothing happens."""
    flow = Flow(contestant=Contestant(stack="tcp", cca="cubic"), size_bytes=1)
    return Trial(network=NETWORK, flows=(flow,), duration_s=EMPTY_S)


def timed(trial: Trial, made: Environment, core: int) -> float:
    """Wall seconds from the plan to the finished folder."""
    with tempfile.TemporaryDirectory(prefix="cambrian-bench-") as folder:
        began = time.perf_counter()
        outcome = carry_out.run(trial, made, Results(Path(folder)), core=core)
        wall_s = time.perf_counter() - began
    if not outcome.valid and trial.duration_s > 1:
        raise SystemExit(f"{trial.flows[0].contestant.name}: not valid: {'; '.join(outcome.reasons)}")
    return wall_s


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
    asked = parser.parse_args()
    pairs = [tuple(text.split(":")) for text in asked.contestants]
    trials = {f"{stack} {cca}": duel(stack, cca) for stack, cca in pairs} | {"empty": empty()}
    made = prepare.ensure({name for trial in trials.values() for name in plan.stack_names(trial)})
    os.sched_setaffinity(0, {asked.core})
    timed(empty(), made, asked.core)
    walls: dict[str, list[float]] = {name: [] for name in trials}
    for _ in range(asked.repeats):
        for name, trial in trials.items():
            walls[name].append(timed(trial, made, asked.core))
    print(f"{'contestant':24} {'wall s: median (min–max)':28} virtual/wall  target")
    for name, seen in walls.items():
        median = statistics.median(seen)
        spread = f"{median:.2f} ({min(seen):.2f}–{max(seen):.2f})"
        if name == "empty":
            print(f"{name:24} {spread:28} {'':12}  ≤ 1 s")
        else:
            print(f"{name:24} {spread:28} {DURATION_S / median:12.1f}  ≥ {TARGETS.get(name.split()[0], 1)}")


if __name__ == "__main__":
    main()
