"""Trials → one value a seed, the unit of every statistic."""

from __future__ import annotations

import math
from collections.abc import Iterable


def by_seed(values: Iterable[tuple[int, float | None]], orders: int = 1) -> dict[int, float]:
    """(seed, value) of each trial → seed → mean of its trials, in order of seed.

    A seed has a trial for each of the ``orders`` of its flows. One of fewer finite values is left out:
    what only some of its orders show would be the order's doing.
    """
    found: dict[int, list[float]] = {}
    for seed, value in values:
        here = found.setdefault(seed, [])
        if value is not None and math.isfinite(value):
            here.append(value)
    return {
        seed: sum(here) / len(here) for seed, here in sorted(found.items()) if len(here) >= max(orders, 1)
    }
