"""Predicts how long a study will run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from cambrian.study.model import Flow, Group, PageClient, Trial
from cambrian.study.tracefile import mean_rate_mbps

#: bottleneck rate that :class:`Speed` refers to; a trial's work grows with its packets
SPEED_RATE_MBPS = 20.0


#: page client → CPU seconds to start it (including 5 s of idling before the trial), and CPU seconds for each
#: object of the page; measured on the β study's pages, with both sides of the flow and the guest
CLIENTS: Mapping[PageClient, tuple[float, float]] = {"chromium": (3.5, 0.02), "light": (0.2, 0.005)}


@dataclass(frozen=True)
class Speed:
    """How fast trials run on one core of a machine.

    ``ratios`` maps a stack to virtual seconds per wall second when it fills a
    20 Mbps bottleneck, ``other`` is the ratio of all other stacks, and ``boot_s`` is
    the wall time that each trial takes in addition.
    """

    ratios: Mapping[str, float]
    other: float
    boot_s: float

    def wall_s(self, trial: Trial) -> float:
        """Predicted wall time of ``trial`` on one core.

        The prediction assumes that endless flows fill the bottleneck and share it equally, and that
        pages and flows of fixed size complete. On a real clock a trial takes its duration.
        """
        if trial.clock != "virtual":
            return self.boot_s + trial.duration_s
        loading_s = sum(_page_s(flow) for flow in trial.flows)
        sized = [(flow, flow.page.size_bytes if flow.page else flow.size_bytes) for flow in trial.flows]
        loading_s += sum(self._carried_s(flow, size_bytes) for flow, size_bytes in sized)
        stacks = [flow.contestant.stack for flow, size_bytes in sized if not size_bytes]
        if not stacks:
            return self.boot_s + loading_s
        wall_per_virtual = sum(1 / self._ratio(stack) for stack in stacks) / len(stacks)
        # at the rate of the measured trials
        virtual_s = 8e-6 * carried_bytes(trial) / SPEED_RATE_MBPS
        return self.boot_s + loading_s + virtual_s * wall_per_virtual

    def _ratio(self, stack: str) -> float:
        """Of the stack, which may be at a release."""
        return self.ratios.get(stack.partition("@")[0], self.other)

    def _carried_s(self, flow: Flow, size_bytes: int) -> float:
        """Wall time for a flow's bytes; it is the same on every network."""
        virtual_s = size_bytes * 8 / (SPEED_RATE_MBPS * 1e6)
        return virtual_s / self._ratio(flow.contestant.stack)


def carried_bytes(trial: Trial, from_s: float = 0.0) -> float:
    """What the bottleneck can carry from a moment to the trial's end, by its schedule."""
    steps = [(0.0, mean_rate_mbps(trial.network))]
    steps += [(step.at_s, step.rate_mbps) for step in trial.network.schedule if step.rate_mbps is not None]
    steps.append((math.inf, 0.0))
    bits = 0.0
    for (at_s, rate_mbps), (next_s, _) in pairwise(steps):
        bits += rate_mbps * 1e6 * max(min(next_s, trial.duration_s) - max(at_s, from_s), 0.0)
    return bits / 8


def _page_s(flow: Flow) -> float:
    """Wall time for a page, the same on every network: starting its client, and each object."""
    if flow.page is None:
        return 0.0
    start_s, object_s = CLIENTS[flow.client]
    return start_s + object_s * flow.page.count


#: slightly below the measured speed of one core (AMD EPYC): benchmarks/speed, part duel-20
DEFAULT_SPEED = Speed(
    ratios={
        "tcp": 75.0,
        "quinn": 32.0,
        "quic-go": 18.0,
        "google-quiche": 9.0,
        "aioquic": 2.8,
        "haproxy": 12.0,
        "kwik": 0.9,
        "msquic": 12.0,
        "nginx": 18.0,
        "ngtcp2": 27.0,
        "ngtcp2-0.12": 23.0,
        "noq": 28.0,
        "openssl": 18.0,
        "quiche": 7.0,
        "quiche-0.24": 6.0,
        "quinn-lab": 28.0,
        "s2n-quic": 28.0,
        "tcp-h2": 22.0,
        "tquic": 27.0,
        "x-net-quic": 9.0,
    },
    other=5.0,
    boot_s=0.4,
)


@dataclass(frozen=True)
class Cost:
    """``virtual_s`` is the sum of the trials' durations, ``wall_s`` the time until the last one ends.

    With a stopping rule these are upper bounds, and ``at_least`` has the lower bounds.
    """

    trials: int
    virtual_s: float
    wall_s: float
    jobs: int
    at_least: Cost | None = None

    def __str__(self) -> str:
        """``1,280 trials, about 1 h 50 min on these 2 cores``; ``6 to 18 trials, about 3 s to 9 s…``."""
        trials = f"{self.trials:,} trial{'' if self.trials == 1 else 's'}"
        time = rough_time(self.wall_s)
        if self.at_least is not None:
            trials = f"{self.at_least.trials:,} to {trials}"
            least = rough_time(self.at_least.wall_s)
            time = time if least == time else f"{least} to {time}"
        cores = "this core" if self.jobs == 1 else f"these {self.jobs} cores"
        return f"{trials}, about {time} on {cores}"


def estimate(groups: Iterable[Group], speed: Speed = DEFAULT_SPEED, *, jobs: int = 2) -> Cost:
    """Predict the cost of running ``groups`` with ``jobs`` trials at a time, each on its own core.

    The wall time is the largest of three: the work divided by the jobs, the longest trial, and the
    longest sequence of trials that wait for each other. After its minimum number of trials, a group
    with a stopping rule runs them one by one.

    Raises:
        ValueError: ``jobs`` is below 1.
    """
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}")
    groups = list(groups)
    least = [group.least_trials for group in groups]
    most = [len(group.trials) for group in groups]
    whole = _cost(groups, most, speed, jobs)
    return whole if least == most else replace(whole, at_least=_cost(groups, least, speed, jobs))


def _cost(groups: Sequence[Group], counts: Sequence[int], speed: Speed, jobs: int) -> Cost:
    """The cost of the first ``counts[i]`` trials of each group ``i``."""
    trials = [trial for group, count in zip(groups, counts, strict=True) for trial in group.trials[:count]]
    sequences = [
        sum(map(speed.wall_s, group.trials[max(group.least_trials - 1, 0) : count]))
        for group, count in zip(groups, counts, strict=True)
    ]
    walls = [speed.wall_s(trial) for trial in trials]
    return Cost(
        trials=len(trials),
        virtual_s=sum(trial.duration_s for trial in trials),
        wall_s=max(sum(walls) / jobs, *walls, *sequences, 0.0),
        jobs=jobs,
    )


def rough_time(seconds: float) -> str:
    """Seconds below 90 s, then minutes, then hours with tens of minutes, then days (from 48 h)."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(round(minutes, -1), 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{round(hours / 24)} days"
