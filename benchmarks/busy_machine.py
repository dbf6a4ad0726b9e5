"""Does a busy machine invalidate trials, or change them?

    .venv/bin/python benchmarks/busy_machine.py [--repeats N] [--loops N] [--seconds S] [STACK:CCA…]

Two flows of one contestant share 20 Mbps, 50 ms and one BDP of buffer, once on the machine as it is,
then N times while so many busy loops a core compete with the guest. A row a contestant: how many of the
repeats are valid, how many packet traces they gave (one is right), and how much slower the slowest was.
The exit status is 1 where a repeat is invalid or differs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")

from cambrian.run import pool, prepare
from cambrian.store.results import Results, TrialResult
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trial import carry_out, plan
from cambrian.trial.environment import Environment

NETWORK = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)


def duel(stack: str, cca: str, seconds: float) -> Trial:
    """Two flows of the same contestant."""
    flow = Flow(contestant=Contestant(stack=stack, cca=cca))
    return Trial(network=NETWORK, flows=(flow, flow), duration_s=seconds)


def once(trial: Trial, made: Environment, core: int) -> TrialResult:
    """One run of the trial, read before its folder goes away."""
    with tempfile.TemporaryDirectory(prefix="cambrian-bench-") as folder:
        outcome = carry_out.run(trial, made, Results(Path(folder)), core=core)
        result = Results(Path(folder)).trial(outcome.trial_id)
        _ = result.manifest, result.verdict
    return result


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many programs that do nothing but use the processor."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main() -> None:
    """Print a row a contestant."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("contestants", nargs="*", default=["tcp:cubic"])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--loops", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10)
    asked = parser.parse_args()
    pairs = [tuple(text.split(":")) for text in asked.contestants]
    trials = {f"{stack} {cca}": duel(stack, cca, asked.seconds) for stack, cca in pairs}
    made = prepare.ensure({name for trial in trials.values() for name in plan.stack_names(trial)})
    cores = pool.cores()
    good = True
    print(f"{'contestant':24} {'valid':>8} {'traces':>8} {'slowest, wall s':>16} {'its processor s':>16}")
    for name, trial in trials.items():
        alone = once(trial, made, cores[0])
        with busy_loops(asked.loops * len(cores)):
            loaded = [once(trial, made, cores[number % len(cores)]) for number in range(asked.repeats)]
        valid = sum(result.verdict["valid"] for result in loaded)
        traces = {result.manifest["packets_sha256"] for result in (alone, *loaded)}
        slowest = max((result.manifest for result in loaded), key=lambda one: float(one["wall_s"]))
        good &= valid == asked.repeats and len(traces) == 1
        print(
            f"{name:24} {valid:>5}/{asked.repeats} {len(traces):>8} "
            f"{slowest['wall_s']:>16.1f} {slowest['cpu_s']:>16.1f}"
        )
        for result in loaded:
            for reason in result.verdict["reasons"]:
                print(f"  invalid: {reason}")
    if not good:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
