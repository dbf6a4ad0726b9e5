"""A network's links and queue as parameters of qdiscs, and these as the kernel takes them."""

from __future__ import annotations

from cambrian.study.model import Change, Contestant, Flow, Network, Trial
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
