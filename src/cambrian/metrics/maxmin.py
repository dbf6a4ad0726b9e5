"""The max-min fair share of one bottleneck, and each flow's throughput relative to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cambrian.metrics.columns import FloatArray

Amounts = Sequence[float] | FloatArray


def max_min(capacity: float, demands: Amounts, weights: Amounts | None = None) -> FloatArray:
    """Max-min fair allocation of ``capacity`` by water-filling, shape (n,), in its unit.

    ``demands`` caps what each flow could use (``inf`` for one that never ends); ``weights``,
    equal unless given, are the proportions in which flows that are not capped share. The
    allocation is min(demand, weight · level), with the one level at which the link is full,
    or every demand met where all fit. Source: Bertsekas and Gallager, Data Networks (1992),
    section 6.5.2.
    """
    wanted = np.asarray(demands, dtype=np.float64)
    parts = np.ones_like(wanted) if weights is None else np.asarray(weights, dtype=np.float64)
    if wanted.ndim != 1 or len(wanted) == 0 or parts.shape != wanted.shape:
        raise ValueError("give one demand a flow, and one weight for each or none at all")
    if not (np.all(wanted >= 0) and np.all(parts > 0) and np.all(np.isfinite(parts))):
        raise ValueError("demands must not be negative, and weights must be finite and above 0")
    if not (np.isfinite(capacity) and capacity >= 0):
        raise ValueError(f"capacity is {capacity}; it must be finite and not negative")
    if wanted.sum() <= capacity:
        return wanted
    order = np.argsort(wanted / parts, kind="stable")
    met = np.concatenate([[0.0], np.cumsum(wanted[order])[:-1]])
    sharing = np.cumsum(parts[order][::-1])[::-1]
    # with the first k flows met, the others would stand at levels[k]; the first k that fits is the answer
    levels = (capacity - met) / sharing
    first = int(np.argmax(levels <= (wanted / parts)[order]))
    return np.asarray(np.minimum(wanted, parts * levels[first]))


def share_of_fair(
    taken: Amounts, capacity: float, demands: Amounts | None = None, weights: Amounts | None = None
) -> FloatArray:
    """What each flow took over its max-min fair share, shape (n,): 1 is exactly its share.

    ``demands`` default to ``inf``. NaN where a fair share is 0.
    """
    amounts = np.asarray(taken, dtype=np.float64)
    fair = max_min(capacity, np.full(len(amounts), np.inf) if demands is None else demands, weights)
    return np.asarray(np.divide(amounts, fair, out=np.full(len(amounts), np.nan), where=fair > 0))
