"""How two flows share over time, if the measured interval begins before one of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import polars as pl
import pytest

from cambrian.measure import measuring, quantities
from cambrian.measure.flow_window import TrialWindow
from cambrian.metrics.columns import PACKETS
from cambrian.metrics.fairness import jain
from cambrian.store.results import TrialResult
from cambrian.study.model import Contestant, Flow, Network, Trial

S = 1_000_000_000
FRAME_BYTES = 1500
RATE_MBPS = 12.0


def window(from_s: float, end_s: int = 40) -> TrialWindow:
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
    result = cast("TrialResult", SimpleNamespace(packets=packets))
    return TrialWindow(result, trial, interval, [(0, RATE_MBPS)], ())


def shares(found: TrialWindow) -> list[float | None]:
    share = quantities.ALL["share_percent"].window
    assert share is not None
    return [share(flow) for flow in found.flows]


@pytest.mark.parametrize("from_s", [5, 25])
def test_a_flow_that_has_not_started_does_not_starve(from_s: float) -> None:
    found = measuring._sharing(window(from_s))
    assert found.of_fair == pytest.approx((1, 1), rel=0.01)
    assert [(one.share_of_time, one.longest_ns) for one in found.starvation] == [(0, 0), (0, 0)]


def test_flows_that_never_share_have_no_figure() -> None:
    never = window(5, end_s=20)
    found = measuring._sharing(never)
    assert (found.of_fair, found.starvation) == ((), ())
    assert shares(never) == [None, None]


@pytest.mark.parametrize(("from_s", "mbps"), [(0, 9), (5, 8.57), (25, 6)])
def test_what_a_flow_that_has_not_started_leaves_to_the_other_is_not_its_share(
    from_s: float, mbps: float
) -> None:
    """Of 0 to 40 s flow 0 had 75 %, and Jain's index was 0.8, of flows that share evenly."""
    found = window(from_s)
    assert shares(found) == pytest.approx([50, 50], abs=0.1)
    assert jain(found.shared_mbps) == pytest.approx(1, abs=1e-4)
    # throughput is over the whole interval
    assert found.throughputs_mbps[0] == pytest.approx(mbps, rel=0.01)
