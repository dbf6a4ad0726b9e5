"""Start offsets and orders: the same for the same seed wherever they are asked, and balanced.

Counter-based: a draw is a hash of what it is for, so it depends on no other draw.
Thus all arms of a study see the same offsets for the same seed, which makes
comparisons paired, and adding a network or a contestant changes no other trial.

An offset belongs to a *position* of the testbed. Each seed is run once for every order of the
flows, so that each flow has each position once, and no flow starts first more often than
another. Without that the order is one fixed draw for a whole study, and decides shares.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b


def uniform(study: str, seed: int, position: int) -> float:
    """A number in [0, 1) that is a pure function of the three."""
    counter = f"cambrian start offset\0{study}\0{seed}\0{position}".encode()
    bits = int.from_bytes(blake2b(counter, digest_size=8).digest(), "big")
    return (bits >> 11) / 2**53


def start_offset_ms(study: str, seed: int, position: int, spread_ms: float) -> float:
    """What is added to the start of the flow at ``position``: uniform in [0, ``spread_ms``], to 1 µs."""
    return round(uniform(study, seed, position) * spread_ms, 3)


def orders(starts_ms: Sequence[float], spread_ms: float, counts: Sequence[int] = ()) -> list[tuple[int, ...]]:
    """Positions of the flows in each trial of a seed: entry ``i`` of a tuple is flow ``i``'s position.

    Parameters:
        starts_ms: the starts that the study itself gives the flows.
        spread_ms: how much later each may start.
        counts: how many flows each entry of the study stands for, in order; these are alike, and only
            their mean is looked at. Without it each flow is an entry of its own.

    Flows that the spread can bring into another order take turns: each trial moves them on by the same
    number of positions, so that over all trials each entry has had every position of theirs
    equally often, and a flow that is its entry's only one has had each position once. A flow whose
    place in the order is fixed by its own start keeps its position. The first tuple leaves each flow
    at its own number.
    """
    counts = counts or [1] * len(starts_ms)
    entry = [number for number, count in enumerate(counts) for _ in range(count)]
    groups = _meeting(starts_ms, spread_ms)
    # the flows of an entry stand together, so a step by a divisor of all entries' counts is balanced
    steps = [math.gcd(*Counter(entry[flow] for flow in group).values()) for group in groups]
    turns = [len(group) // step for group, step in zip(groups, steps, strict=True)]
    found = []
    for turn in range(math.lcm(*turns)):
        positions = list(range(len(starts_ms)))
        for group, step in zip(groups, steps, strict=True):
            for place, flow in enumerate(group):
                positions[flow] = group[(place + turn * step) % len(group)]
        found.append(tuple(positions))
    return found


def _meeting(starts_ms: Sequence[float], spread_ms: float) -> list[list[int]]:
    """Flows whose starts can fall in either order, directly or by way of others; each in order of number."""
    by_start = sorted(range(len(starts_ms)), key=lambda flow: starts_ms[flow])
    groups = [[by_start[0]]]
    for before, flow in itertools.pairwise(by_start):
        if starts_ms[flow] <= starts_ms[before] + spread_ms:
            groups[-1].append(flow)
        else:
            groups.append([flow])
    return [sorted(group) for group in groups]
