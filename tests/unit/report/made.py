"""Collected results made by hand: throughputs, delays and losses as a test wants them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cambrian.measure.flow_window import FlowMeasures
from cambrian.measure.sharing import Sharing
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.convergence import Convergence
from cambrian.metrics.fairness import jain, shares
from cambrian.report.collect import Cell, Collected
from cambrian.study.model import Contestant, Design, Flow, Network, Study, Trial

NETWORK = Network(name="link", rate_mbps=20, rtt_ms=50, buffer_bdp=1)


def contestant(name: str, cca: str = "cubic") -> Contestant:
    return Contestant(stack="tcp", cca=cca, label=name)


def trial(
    seed: int,
    mbps: Sequence[float],
    *,
    delay_ms: Sequence[float | None] | None = None,
    loss_percent: Sequence[float] | None = None,
    rtts_ms: Sequence[float] | None = None,
    joins: Sequence[Convergence] = (),
    network: Network = NETWORK,
) -> TrialMeasures:
    """One trial: a throughput for each flow, and what else a test is about."""
    part = shares(mbps)
    delays = delay_ms or [10.0] * len(mbps)
    losses = loss_percent or [0.0] * len(mbps)
    rtts = rtts_ms or [network.rtt_ms] * len(mbps)
    flows = tuple(
        FlowMeasures(
            {
                "throughput_mbps": mbps[number],
                "share_percent": 100 * float(part[number]),
                "delay_p50_ms": delays[number],
                "delay_p95_ms": delays[number],
                "delay_p99_ms": delays[number],
                "queue_loss_percent": losses[number],
                "random_loss_percent": 0.0,
                "interval_queue_loss_percent": losses[number],
            },
            requested_cca="cubic",
            confirmed_cca="cubic",
        )
        for number in range(len(mbps))
    )
    spec = Trial(
        network=network,
        flows=tuple(Flow(contestant=contestant("any"), rtt_ms=rtt_ms) for rtt_ms in rtts),
        duration_s=60,
        seed=seed,
    )
    return TrialMeasures(
        id=f"trial-{seed}",
        folder=Path(),
        trial=spec,
        t0_ns=0,
        t1_ns=60_000_000_000,
        flows=flows,
        jain=jain(mbps),
        utilisation=math.fsum(mbps) / 20,
        envelope=None,
        sharing=Sharing((), (), tuple(joins)) if len(mbps) > 1 else None,
    )


def cell(
    design: Design, names: Sequence[str], trials: Sequence[TrialMeasures], network: Network = NETWORK
) -> Cell:
    return Cell(
        key=f"{network.name}/{'+'.join(names)}",
        design=design,
        network=network,
        names=tuple(names),
        trials=tuple(trials),
        records=(),
        missing=(),
        buffer_bytes=125_000,
        orders=max(Counter(one.trial.seed for one in trials).values(), default=1),
    )


def collected(
    design: Design,
    cells: Sequence[Cell],
    contestants: Sequence[Contestant] = (),
    flows: Sequence[Flow] = (),
) -> Collected:
    networks = {one.network.name: one.network for one in cells}
    study = Study(
        name="made",
        title="Made by hand",
        design=design,
        networks=tuple(networks.values()),
        contestants=tuple(contestants),
        flows=tuple(flows),
    )
    manifests = tuple(_manifest(trial) for one in cells for trial in one.trials)
    return Collected({}, study, tuple(cells), manifests, {})


def _manifest(trial: TrialMeasures) -> dict[str, Any]:
    """What observations read of one: every stack's release is "1.0"."""
    stacks = {flow.contestant.stack: {"version": "1.0"} for flow in trial.trial.flows}
    return {"id": trial.id, "stacks": stacks, "kernel": {"version": "7.3.4"}}
