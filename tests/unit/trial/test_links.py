"""A network's links and queue as parameters of qdiscs, and these as the kernel takes them."""

from __future__ import annotations

import pytest

from cambrian.study.limits import MOST_PATH_BYTES
from cambrian.study.model import Change, Contestant, Flow, Network, Trial
from cambrian.testbed import qdiscs
from cambrian.trial import links

FLOW = Flow(contestant=Contestant(stack="quinn", cca="cubic"))


def test_a_step_of_a_schedule_does_not_start_the_random_sequence_again() -> None:
    """A seed in each step would lose the same packets after each."""
    steps = (Change(at_s=1, rtt_ms=60), Change(at_s=2, loss_percent=2))
    network = Network(rate_mbps=10, rtt_ms=50, buffer_bdp=1, loss_percent=1, schedule=steps)
    trial = Trial(network=network, flows=(FLOW,), duration_s=20)
    first = links.access(network, FLOW, 0, trial.seed)
    assert first["forward"]["prng_seed"] != first["back"]["prng_seed"]
    changed = [link for step in links.schedule(trial, 60_000) for link in step["links"]]
    assert len(changed) == 2
    assert not any("prng_seed" in link["forward"] | link["back"] for link in changed)


@pytest.mark.parametrize(
    ("buffer_bytes", "wlog"), [(1514, 9), (2**24 - 1, 9), (2**24, 8), (2**25 - 1, 8), (MOST_PATH_BYTES, 4)]
)
def test_the_kernel_takes_red_with_any_buffer(buffer_bytes: int, wlog: int) -> None:
    parms = qdiscs._red({"limit_bytes": buffer_bytes, "ecn": 0})["attrs"][0][1]
    assert parms["wlog"] == wlog
    # red_check_params of include/net/red.h
    assert parms["qth_max"].bit_length() + parms["wlog"] < 32


def test_fq_codel_is_limited_by_its_packets_only() -> None:
    network = Network(rate_mbps=1000, rtt_ms=400, buffer_bdp=1, queue="fq_codel")
    made = links.aqm(network, links.buffer_bytes(network, 1000))
    assert made is not None
    _, encode = qdiscs._ENCODERS["fq_codel"]
    attributes = dict(encode(made["parameters"])["attrs"])
    assert attributes["TCA_FQ_CODEL_LIMIT"] == 33_025
    assert attributes["TCA_FQ_CODEL_MEMORY_LIMIT"] == 2**31
