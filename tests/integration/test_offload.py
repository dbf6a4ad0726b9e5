"""A sender with segmentation offload sends trains; the router and its queue still see frames."""

from __future__ import annotations

import numpy as np
import pytest

from cambrian.store.results import TrialResult
from cambrian.study.model import FRAME_BYTES
from tests.integration.conftest import RunTrials, duel, flow, valid

#: packets that arrive within this time of each other left the sender together; a frame takes 606 us here
TOGETHER_NS = 20_000


def _packets_in_a_train(result: TrialResult) -> float:
    """Mean number of packets that arrive together."""
    arrivals = np.sort(result.packets["arrival_ns"].to_numpy())
    return len(arrivals) / (1 + int((np.diff(arrivals) > TOGETHER_NS).sum()))


def test_kernel_bbr_paces_trains_with_offload_and_packets_without(run_trials: RunTrials) -> None:
    flows = (flow("tcp", "bbr"), flow("quinn", "cubic"))
    trials = [duel(*flows, seconds=8, offload=offload) for offload in (False, True)]
    without, with_offload = (valid(result) for result in run_trials(trials))
    for result in (without, with_offload):
        assert result.packets["size_bytes"].max() == FRAME_BYTES
    assert _packets_in_a_train(without) == pytest.approx(1, abs=0.2)
    assert _packets_in_a_train(with_offload) > 1.3
