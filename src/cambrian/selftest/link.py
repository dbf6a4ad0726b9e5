"""Checks that RTT, rate, buffer and loss of the network are as configured, over a small grid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from cambrian.metrics.queueing import max_occupancy_bytes
from cambrian.metrics.utilisation import busy
from cambrian.selftest.bench import Bench, flow, trial
from cambrian.selftest.check import Check, within
from cambrian.stats.exact import expected_count
from cambrian.store.results import TrialResult
from cambrian.study.model import FRAME_BYTES, Network
from cambrian.trial import links

RTT_TOLERANCE_MS = 0.001
RATE_TOLERANCE_PERCENT = 0.1
CONFIDENCE = 0.99

#: rate, RTT, buffer in BDP, seconds
GRID = (
    (5, 200, 1, 20),
    (20, 10, 3, 10),
    (20, 50, 0.5, 10),
    (20, 50, 5, 20),
    (100, 50, 1, 10),
    (1000, 5, 1, 3),
)
#: forward and return loss in percent
LOSSES = ((0.5, 0.0), (2.0, 0.0), (0.0, 2.0))


def checks(bench: Bench) -> Iterator[Check]:
    """Rows for every cell of the grid and every loss."""
    networks = [Network(rate_mbps=rate, rtt_ms=rtt, buffer_bdp=bdp) for rate, rtt, bdp, _ in GRID]
    lossy = [
        Network(rate_mbps=20, rtt_ms=20, buffer_bdp=2, loss_percent=forward, return_loss_percent=back)
        for forward, back in LOSSES
    ]
    trials = [
        trial(network, flow("tcp", "cubic"), flow("tcp", "cubic"), duration_s=cell[3])
        for network, cell in zip(networks, GRID, strict=True)
    ]
    trials += [trial(network, flow("tcp", "bbr"), duration_s=30) for network in lossy]
    found = bench.run(trials)
    for network, result in zip(networks, found, strict=False):
        yield from _shape(network, result)
    for network, result in zip(lossy, found[len(networks) :], strict=True):
        yield from _losses(network, result)


def _shape(network: Network, result: TrialResult) -> Iterator[Check]:
    rate, rtt = network.rate_mbps, network.rtt_ms
    assert rate is not None
    label = f"{rate:g} Mbps, {rtt:g} ms, {network.buffer_bdp:g} BDP"
    base_ms = max(value / 1e6 for value in result.manifest["guest"]["base_rtt_ns"])
    yield within(f"rtt: {label}", base_ms, rtt, RTT_TOLERANCE_MS, "ms", digits=5)
    measured = busy(result.packets, links.burst_bytes(rate))
    mbps = measured.rate_mbps if measured else 0.0
    yield within(f"rate: {label}", mbps, rate, rate * RATE_TOLERANCE_PERCENT / 100, "Mbps")
    limit = links.buffer_bytes(network, rate)
    largest = max_occupancy_bytes(result.packets)
    yield Check(
        f"buffer: {label}",
        f"{limit - FRAME_BYTES} < largest queue ≤ {limit} bytes",
        f"{largest} bytes",
        limit - FRAME_BYTES < largest <= limit,
    )


def _losses(network: Network, result: TrialResult) -> Iterator[Check]:
    directions: list[tuple[Literal["forward", "back"], float]]
    directions = [("forward", network.loss_percent), ("back", network.return_loss_percent)]
    for direction, percent in directions:
        counted = result.link_counts(direction)[0]
        low, high = expected_count(counted.offered, percent / 100, CONFIDENCE)
        yield Check(
            f"loss: {direction}, {percent:g} %",
            f"{low} to {high} of {counted.offered} packets",
            f"{counted.lost} lost",
            low <= counted.lost <= high,
        )
