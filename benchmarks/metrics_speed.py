"""How long all metrics of one trial take, on 1,000,000 packets and one core.

Run: ``taskset -c 0 python benchmarks/metrics_speed.py [PACKETS]``. The packets are
synthetic: two flows that alternate through a 100 Mbps bottleneck with a sawtooth queue.
"""

from __future__ import annotations

import os
import sys
import time

# One core, as in a study with one trial a core; libraries read this at import.
os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")


from collections.abc import Callable

import numpy as np
import polars as pl

from cambrian.metrics import conformance, envelope, loss, queueing, throughput, utilisation
from cambrian.metrics.columns import NS_PER_S, PACKETS
from cambrian.metrics.gates import FlowFacts, Limit, TrialFacts, trial_gates, verdict
from cambrian.study.model import Network

FRAME_BYTES = 1514
FRAME_NS = FRAME_BYTES * 8 * 10  # at 100 Mbps
LIMIT_BYTES = 312_500
SAWTOOTH = 200  # packets in the fullest queue
RTT_MS = 50.0


def synthetic(count: int) -> pl.DataFrame:
    """Frames leave back to back after 1 to SAWTOOTH frame times; each hundredth is a drop."""
    index = np.arange(count, dtype=np.int64)
    departure = (index + SAWTOOTH + 1) * FRAME_NS
    arrival = np.maximum.accumulate(departure - (1 + index % SAWTOOTH) * FRAME_NS)
    dropped = index % 100 == 99
    return pl.DataFrame(
        {
            "flow": (index // 3 % 2).astype(np.uint16),
            "arrival_ns": arrival,
            "departure_ns": pl.Series(departure).set(pl.Series(dropped), None),
            "size_bytes": np.full(count, FRAME_BYTES, dtype=np.uint16),
            "outcome": np.where(dropped, "dropped", "departed"),
            "ce": np.zeros(count, dtype=bool),
        },
        schema_overrides=PACKETS,
    )


def main() -> None:
    """Print a line per metric and the total."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    packets = synthetic(count)
    end_ns = int(packets["departure_ns"].max()) + 1  # type: ignore[arg-type]
    warmup_ns, bin_ns = end_ns // 10, NS_PER_S // 10
    network = Network(rate_mbps=100, rtt_ms=RTT_MS, buffer_bytes=LIMIT_BYTES)
    flow = FlowFacts("flow", "cubic", RTT_MS, confirmed_cca="cubic", base_rtt_ms=RTT_MS, exit_status=0)
    facts = TrialFacts(end_ns, Limit(LIMIT_BYTES), 1600, warmup_ns, 0, (flow, flow))
    capacity = utilisation.capacity_bits([(0, 100.0)], warmup_ns, end_ns)
    offered = packets["flow"].value_counts().sort("flow")["count"].to_list()

    def envelopes() -> None:
        one, two = (envelope.imc22(packets, flow, RTT_MS, end_ns / NS_PER_S) for flow in (0, 1))
        conformance.compare(one, two)

    work: dict[str, Callable[[], object]] = {
        "throughput": lambda: throughput.throughput(packets, 2, warmup_ns, end_ns),
        "binned throughput": lambda: throughput.binned_throughput(packets, 2, bin_ns, 0, end_ns),
        "sliding throughput": lambda: [
            throughput.sliding_throughput(packets, f, 10 * round(RTT_MS * 1e6)) for f in (0, 1)
        ],
        "delay summary": lambda: queueing.delay_summary(packets, warmup_ns, end_ns),
        "occupancy": lambda: queueing.max_occupancy_bytes(packets),
        "binned occupancy": lambda: queueing.binned_occupancy(packets, bin_ns, 0, end_ns),
        "loss": lambda: loss.loss(packets, offered, [0, 0]),
        "utilisation": lambda: utilisation.utilisation(packets, capacity, warmup_ns, end_ns),
        "envelopes and conformance": envelopes,
        "gates and verdict": lambda: verdict(trial_gates(packets, network, facts)),
    }
    total = 0.0
    for name, run in work.items():
        start = time.perf_counter()
        run()
        taken = time.perf_counter() - start
        total += taken
        print(f"{name:<28}{taken:8.3f} s")
    print(f"{f'all, {count} packets':<28}{total:8.3f} s")


if __name__ == "__main__":
    main()
