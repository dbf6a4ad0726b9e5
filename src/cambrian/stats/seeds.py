"""Average trials to one value for each seed, the unit of every statistic."""

from __future__ import annotations

import math
from collections.abc import Iterable


def by_seed(values: Iterable[tuple[int, float | None]], orders: int = 1) -> dict[int, float]:
    """Seed → mean of its trials, in order of seed, from each trial's (seed, value).

    A seed has one trial for each of the ``orders`` of its flows. A seed with fewer finite values is left out,
    because the mean over only some orders would depend on the order.
    """
    found: dict[int, list[float]] = {}
    for seed, value in values:
        here = found.setdefault(seed, [])
        if value is not None and math.isfinite(value):
            here.append(value)
    return {
        seed: sum(here) / len(here) for seed, here in sorted(found.items()) if len(here) >= max(orders, 1)
    }
