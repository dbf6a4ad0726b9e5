"""Start offsets and orders: functions of the seed, balanced over the flows.

Counter-based: each draw is a hash of its purpose, independent of all other draws.
So all arms of a study have the same offsets for the same seed, which makes
comparisons paired, and adding a network or a contestant changes no other trial.

An offset belongs to a *position* of the testbed. Each seed runs once in every order of the
flows, so each flow has each position once and all flows start first equally often.
Otherwise the order would be one fixed draw for a whole study, and would decide the shares.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b


def uniform(study: str, seed: int, position: int) -> float:
    """A uniform draw from [0, 1): a pure function of the arguments."""
    counter = f"cambrian start offset\0{study}\0{seed}\0{position}".encode()
    bits = int.from_bytes(blake2b(counter, digest_size=8).digest(), "big")
    return (bits >> 11) / 2**53


def start_offset_ms(study: str, seed: int, position: int, spread_ms: float) -> float:
    """Start offset of the flow at ``position``: uniform in [0, ``spread_ms``], rounded to 1 µs."""
    return round(uniform(study, seed, position) * spread_ms, 3)


def orders(starts_ms: Sequence[float], spread_ms: float, counts: Sequence[int] = ()) -> list[tuple[int, ...]]:
    """Positions of the flows in each trial of a seed: entry ``i`` of a tuple is flow ``i``'s position.

    Parameters:
        starts_ms: the start of each flow in the study.
        spread_ms: largest offset that is added to a start.
        counts: number of flows of each entry of the study, in order. The flows of an entry are equal, and
            only their mean is used. Without ``counts`` each flow is an entry.

    Flows whose order can change within the spread rotate: each trial shifts them by the same
    number of positions. Over all trials, each entry has each of these positions equally often,
    and the only flow of an entry has each position once. A flow whose start fixes its place in the
    order keeps its position. In the first tuple, flow ``i`` has position ``i``.
    """
    groups, steps = _rotations(starts_ms, spread_ms, counts)
    rotations = []
    for turn in range(_turns(groups, steps)):
        positions = list(range(len(starts_ms)))
        for group, step in zip(groups, steps, strict=True):
            for place, flow in enumerate(group):
                positions[flow] = group[(place + turn * step) % len(group)]
        rotations.append(tuple(positions))
    return rotations


def number_of_orders(starts_ms: Sequence[float], spread_ms: float, counts: Sequence[int] = ()) -> int:
    """The length of :func:`orders`, without the list: 60 flows can have a million orders."""
    return _turns(*_rotations(starts_ms, spread_ms, counts))


def _rotations(
    starts_ms: Sequence[float], spread_ms: float, counts: Sequence[int]
) -> tuple[list[list[int]], list[int]]:
    """The groups of flows that rotate, and the number of positions by which each group moves."""
    counts = counts or [1] * len(starts_ms)
    entry = [number for number, count in enumerate(counts) for _ in range(count)]
    groups = _meeting(starts_ms, spread_ms)
    # the flows of an entry are adjacent, so a step by a common divisor of all entries' counts is balanced
    steps = [math.gcd(*Counter(entry[flow] for flow in group).values()) for group in groups]
    return groups, steps


def _turns(groups: Sequence[Sequence[int]], steps: Sequence[int]) -> int:
    """Trials until all groups are back at their first positions."""
    return math.lcm(*(len(group) // step for group, step in zip(groups, steps, strict=True)))


def _meeting(starts_ms: Sequence[float], spread_ms: float) -> list[list[int]]:
    """Groups of flows whose start order can change, directly or through other flows; sorted by number."""
    by_start = sorted(range(len(starts_ms)), key=lambda flow: starts_ms[flow])
    groups = [[by_start[0]]]
    for before, flow in itertools.pairwise(by_start):
        if starts_ms[flow] <= starts_ms[before] + spread_ms:
            groups[-1].append(flow)
        else:
            groups.append([flow])
    return [sorted(group) for group in groups]
