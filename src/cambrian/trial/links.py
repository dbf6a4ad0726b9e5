"""Turns a network's links and queue into parameters of qdiscs; pure functions."""

from __future__ import annotations

import hashlib
import math
from typing import Any

from cambrian.study.limits import bdp_bytes
from cambrian.study.model import FRAME_BYTES, Clock, Flow, Network, Trial
from cambrian.study.queues import AQMS
from cambrian.testbed.contract import AqmPlan, ChangePlan, LinkPlan, TbfPlan

#: cake counts a packet's memory instead of its bytes: kernel memory of a full frame
CAKE_BYTES_PER_FRAME = 2304
#: fq_codel also has a limit in kernel memory, 32 MiB; its limit in packets shall be the only one
FQ_CODEL_MEMORY_BYTES = 2**31
#: what a step of a schedule may change of the flows' links
LINK_KEYS = ("rtt_ms", "loss_percent", "return_loss_percent")


def buffer_bytes(network: Network, rate_mbps: float) -> int:
    """The bottleneck's buffer in bytes of frames, at least one frame.

    ``rate_mbps`` is the network's, or the mean rate of its trace.
    """
    if network.buffer_bytes is not None:
        wanted = network.buffer_bytes
    elif network.buffer_packets is not None:
        wanted = network.buffer_packets * FRAME_BYTES
    else:
        assert network.buffer_bdp is not None
        wanted = round(network.buffer_bdp * bdp_bytes(rate_mbps, network.rtt_ms))
    return max(wanted, FRAME_BYTES)


def link_seed(trial_seed: int, flow: int, direction: str) -> int:
    """The seed of a link: the same losses for a position, independent of the contestant."""
    text = f"{trial_seed}/{flow}/{direction}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def access(
    network: Network,
    flow: Flow,
    position: int,
    seed: int | None,
    *,
    rtt_ms: float | None = None,
    loss_percent: float | None = None,
    return_loss_percent: float | None = None,
) -> LinkPlan:
    """netem of one flow's link, both directions; the arguments after ``seed`` override the network's.

    ``seed``: the trial's; None for a change, because netem starts its random sequence again at each seed.
    """
    rtt = rtt_ms or flow.base_rtt_ms(network)
    forward_ns = round(rtt * network.forward_delay_percent / 100 * 1e6)
    forward: dict[str, Any] = {
        "delay_ns": forward_ns,
        "jitter_ns": round(network.jitter_ms * 1e6),
        "loss_percent": network.loss_percent if loss_percent is None else loss_percent,
        "reorder_percent": network.reorder_percent,
        "duplicate_percent": network.duplicate_percent,
    }
    if network.burst_loss:
        forward["burst_loss"] = network.burst_loss.model_dump()
    back: dict[str, Any] = {
        "delay_ns": round(rtt * 1e6) - forward_ns,
        "loss_percent": network.return_loss_percent if return_loss_percent is None else return_loss_percent,
    }
    if seed is not None:
        forward["prng_seed"] = link_seed(seed, position, "forward")
        back["prng_seed"] = link_seed(seed, position, "back")
    return {
        "forward": forward,
        "back": back,
        "loss_every_packets": network.loss_every_packets,
        "offload": network.offload,
    }


#: largest delay of a guest's timer: a tick of its clock, or the host's scheduling
TIMER_LAG_US = {"virtual": 1, "real": 5000, "host": 5000}


def burst_bytes(rate_mbps: float, clock: Clock = "virtual") -> int:
    """Depth of the bottleneck's token bucket in bytes: one frame, plus the rate times the timer's lag.

    With only one frame the link would be slower than its rate: a timer fires late (by up
    to 256 ns in virtual time), and a full bucket loses the tokens of that time.
    """
    return FRAME_BYTES + math.ceil(rate_mbps / 8 * TIMER_LAG_US[clock])


def tbf(rate_mbps: float, limit_bytes: int, clock: Clock) -> TbfPlan:
    """The bottleneck's token bucket: in virtual time, packets leave evenly spaced at the rate."""
    return {
        "rate_bps": rate_mbps * 1e6,
        "burst_bytes": burst_bytes(rate_mbps, clock),
        "limit_bytes": limit_bytes,
    }


def aqm(network: Network, limit_bytes: int) -> AqmPlan | None:
    """The AQM inside the bucket; None for drop-tail.

    Limits in bytes become packets for the AQMs that count packets.
    """
    if network.queue == "droptail":
        return None
    parameters: dict[str, Any] = {}
    if network.aqm_target_ms is not None:
        parameters["target_us"] = round(network.aqm_target_ms * 1000)
    if network.aqm_interval_ms is not None:
        parameters["interval_us"] = round(network.aqm_interval_ms * 1000)
    kind, packets = AQMS[network.queue], max(limit_bytes // FRAME_BYTES, 1)
    match kind.limit:
        case "bytes":
            parameters["limit_bytes"] = limit_bytes
        case "memory":
            parameters["memory_bytes"] = packets * CAKE_BYTES_PER_FRAME
        case "packets":
            parameters["limit_packets"] = packets
    if network.queue == "fq_codel":
        parameters["memory_bytes"] = FQ_CODEL_MEMORY_BYTES
    if kind.ecn == "if set":
        parameters["ecn"] = int(network.ecn)
    return {"kind": network.queue, "parameters": parameters}


def schedule(trial: Trial, limit_bytes: int) -> list[ChangePlan]:
    """The network's changes: ``at_ns`` and the new parameters of qdiscs; other parameters stay the same."""
    #: the links' values from the steps so far
    latest: dict[str, float] = {}
    handovers = 0
    steps: list[ChangePlan] = []
    for change in trial.network.schedule:
        step: ChangePlan = {"at_ns": round(change.at_s * 1e9)}
        if change.rate_mbps is not None:
            step["tbf"] = tbf(change.rate_mbps, limit_bytes, trial.clock)
        if changed := change.model_dump(include=set(LINK_KEYS), exclude_none=True):
            latest |= changed
            step["links"] = [
                access(trial.network, flow, position, None, **latest)
                for position, flow in zip(trial.positions, trial.flows, strict=True)
            ]
        steps.append(step)
        if change.handover_overlap_ms is not None:
            handovers += 1
            step["receivers_arrive"] = handovers
            steps.append({"at_ns": round(change.settled_s * 1e9), "receivers_leave": handovers})
    return steps
