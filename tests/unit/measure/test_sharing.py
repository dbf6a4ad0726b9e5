"""How two flows share over time, if the measured interval begins before one of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from cambrian.measure.sharing import Sharing, measure_sharing
from cambrian.metrics.columns import PACKETS
from cambrian.metrics.throughput import throughput
from cambrian.study.model import Contestant, Flow, Network, Trial

S = 1_000_000_000
FRAME_BYTES = 1500
RATE_MBPS = 12.0


def shared(from_s: float, end_s: int = 40) -> Sharing:
    """Flow 0 from 0 s, flow 1 from 20 s; then each has half of the link, from the first packet on."""
    flows = [
        Flow(contestant=Contestant(stack="tcp", cca="cubic"), start_ms=start_ms) for start_ms in (0, 20_000)
    ]
    network = Network(rate_mbps=RATE_MBPS, rtt_ms=50, buffer_bdp=1)
    trial = Trial(network=network, flows=tuple(flows), duration_s=40, seed=1)
    times_ns = np.arange(0, 40 * S, round(FRAME_BYTES * 8e3 / RATE_MBPS), dtype=np.int64)
    count = len(times_ns)
    packets = pl.DataFrame(
        {
            "flow": np.where(times_ns < 20 * S, 0, np.arange(count) % 2),
            "arrival_ns": times_ns,
            "departure_ns": times_ns,
            "size_bytes": np.full(count, FRAME_BYTES),
            "outcome": ["departed"] * count,
            "ce": [False] * count,
        },
        schema_overrides=PACKETS,
    )
    interval = round(from_s * S), end_s * S
    mbps = throughput(packets, 2, *interval)["throughput_mbps"].to_list()
    return measure_sharing(trial, packets, mbps, [(0, RATE_MBPS)], interval)


@pytest.mark.parametrize("from_s", [5, 25])
def test_a_flow_that_has_not_started_does_not_starve(from_s: float) -> None:
    found = shared(from_s)
    assert found.of_fair == pytest.approx((1, 1), rel=0.01)
    assert [(one.share_of_time, one.longest_ns) for one in found.starvation] == [(0, 0), (0, 0)]


def test_flows_that_never_share_have_no_figure() -> None:
    found = shared(5, end_s=20)
    assert (found.of_fair, found.starvation) == ((), ())
