"""How much faster are two workers of a Dask cluster than one?

    .venv/bin/python benchmarks/cluster_speed.py [--seconds S] [--trials N] [--repeats N]

A study of short trials of kernel TCP runs on one worker and on two, by turns, first on this machine's cores
without a cluster, then on a Dask cluster on this machine. A row a run: the seconds from the first trial's
start to the last result in the store, without the start of the workers. Then the ratios of the medians, and
whether the stores are the same. The ratio without a cluster is what the two cores give. Run it on an idle
machine with two cores or more. The exit status is 1 if the cluster's ratio is below 1.9 or the stores differ.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")

from cambrian.cluster import deploy
from cambrian.run import local, pool, prepare
from cambrian.store.results import Results
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trial import plan

ENOUGH = 1.9
CORES, CLUSTER = "this machine's cores", "a Dask cluster"
NETWORK = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)


def asked(count: int, seconds: float) -> list[Trial]:
    """Equal trials but for their seeds."""
    flow = Flow(contestant=Contestant(stack="tcp", cca="cubic"))
    return [
        Trial(network=NETWORK, flows=(flow, flow), duration_s=seconds, seed=seed)
        for seed in range(1, count + 1)
    ]


@contextmanager
def engine(kind: str, workers: int) -> Iterator[pool.Engine]:
    """This machine's cores, or a Dask cluster on them, with so many workers."""
    if kind == CORES:
        yield local.Cores(workers)
    else:
        with deploy.opened(f"local:{workers}") as found:
            yield found


def once(kind: str, workers: int, trials: list[Trial]) -> tuple[float, dict[str, str]]:
    """Seconds of a run on so many workers, and trial → hash of its packets."""
    made = prepare.ensure({name for trial in trials for name in plan.stack_names(trial)})
    with tempfile.TemporaryDirectory(prefix="cambrian-bench-") as folder, engine(kind, workers) as found:
        results = Results(Path(folder))
        crew = found.begin(made, results, None)
        try:
            while crew.places() < workers:
                time.sleep(0.1)
            # each worker's first trial starts its process
            for future in [crew.submit(trial) for trial in trials[:workers]]:
                future.result()
            began = time.monotonic()
            outcomes = [future.result() for future in [crew.submit(trial) for trial in trials]]
            took_s = time.monotonic() - began
        finally:
            crew.close()
        hashes = {
            one.trial_id: results.trial(one.trial_id).manifest["packets_sha256"]
            for one in outcomes
            if one.valid
        }
    return took_s, hashes


def main() -> None:
    """Print a row a run, and the ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--trials", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    wanted = parser.parse_args()
    trials = asked(wanted.trials, wanted.seconds)
    load = os.getloadavg()[0]
    busy = " (busy: no figure of record)" if load > 0.5 else ""
    print(f"{len(pool.cores())} cores; load {load:.1f} at the start{busy}")
    times: dict[tuple[str, int], list[float]] = {
        (kind, workers): [] for kind in (CORES, CLUSTER) for workers in (1, 2)
    }
    stores = []
    for _ in range(wanted.repeats):
        for (kind, workers), found in times.items():
            took_s, hashes = once(kind, workers, trials)
            found.append(took_s)
            stores.append(hashes)
            print(f"{kind}, {workers} worker{'s' * (workers > 1)}: {took_s:7.2f} s", flush=True)
    medians = {key: statistics.median(found) for key, found in times.items()}
    ratio = medians[CLUSTER, 1] / medians[CLUSTER, 2]
    plain = medians[CORES, 1] / medians[CORES, 2]
    longer = medians[CLUSTER, 2] / medians[CORES, 2]
    print(f"without a cluster two workers are {plain:.2f} times as fast as one")
    print(f"the cluster's two workers take {longer:.2f} times as long as two without it")
    same = all(store == stores[0] and len(store) == len(trials) for store in stores)
    print(f"the cluster's two workers are {ratio:.2f} times as fast as one (wanted: {ENOUGH})")
    print(f"the stores {'are the same' if same else 'DIFFER'}")
    if ratio < ENOUGH or not same:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
