"""How long all metrics of one trial take, for a million packets on one core.

Run: ``python benchmarks/metrics_speed.py``. Runs one real trial (kernel CUBIC and Reno, 200 Mbps,
10 ms, 62 s: a little more than 1,000,000 packets), then measures it as a report does: throughput,
delay, loss, envelope, sharing, recovery, state machines, every parameter. Reading is timed apart.
"""

from __future__ import annotations

import os

# one core, as in a study with one trial a core; libraries read this at import
os.environ["POLARS_MAX_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import cProfile
import pstats
import tempfile
import time
from pathlib import Path

from cambrian.judging import families
from cambrian.measure import measuring
from cambrian.run import pool, prepare
from cambrian.store.results import Results, TrialResult
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trial import carry_out

TRIAL = Trial(
    network=Network(rate_mbps=200, rtt_ms=10, buffer_bdp=1),
    flows=(
        Flow(contestant=Contestant(stack="tcp", cca="cubic")),
        Flow(contestant=Contestant(stack="tcp", cca="reno"), start_ms=500),
    ),
    duration_s=62,
)
#: functions of the profile that are shown, the longest first
SHOWN = 12
REPEATS = 3


def main() -> None:
    """Print packets, rows, the parts' seconds and the total."""
    os.sched_setaffinity(0, {pool.cores()[0]})
    with tempfile.TemporaryDirectory(prefix="cambrian-bench-") as name:
        results = Results(Path(name))
        made = prepare.ensure({"tcp"})
        found = carry_out.run(TRIAL, made, results, core=pool.cores()[0])
        known = [families.family_of(flow.contestant.stack, flow.contestant.cca) for flow in TRIAL.flows]
        folder = results.trial(found.trial_id).folder
        for _ in range(REPEATS):
            trial = TrialResult(folder)
            start = time.perf_counter()
            packets, rows = trial.packets.height, trial.transport.height
            reading = time.perf_counter() - start
            profile = cProfile.Profile()
            start = time.perf_counter()
            measuring.measure(trial, with_envelope=True, families=known)
            taken = time.perf_counter() - start
            print(f"{packets:,} packets, {rows:,} rows: read in {reading:.2f} s, all metrics {taken:.2f} s")
        profile.runcall(measuring.measure, TrialResult(folder), with_envelope=True, families=known)
        pstats.Stats(profile).sort_stats("cumulative").print_stats("cambrian", SHOWN)


if __name__ == "__main__":
    main()
