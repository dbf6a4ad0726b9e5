"""Harm: how much worse a victim performs beside a competitor, as a share of its performance alone.

Source: Ware, Mukerjee, Seshan, Sherry, "Beyond Jain's Fairness Index: Setting the Bar For The
Deployment of Congestion Control Algorithms", HotNets 2019. Its condition for a new algorithm α is that α
harms β no more than β harms β.
"""

from __future__ import annotations

import numpy as np

from cambrian.metrics.columns import FloatArray


def harm(alone: float | FloatArray, competing: float | FloatArray, *, more_is_better: bool) -> FloatArray:
    """Harm to a victim that had ``alone`` and has ``competing``: arrays are taken by element.

    More is better: (alone - competing) / alone. Less is better: (competing - alone) /
    competing. 0 is none, 1 is all; negative where the victim fares better than alone, and
    NaN where the denominator is 0 (0 where both values are: nothing was taken).
    """
    before, after = np.asarray(alone, dtype=np.float64), np.asarray(competing, dtype=np.float64)
    if np.any(before < 0) or np.any(after < 0):
        raise ValueError("harm is of figures that are not negative: throughput, delay, loss")
    lost, whole = (before - after, before) if more_is_better else (after - before, after)
    unknown = np.where(lost == 0, 0.0, np.nan)
    return np.asarray(np.divide(lost, whole, out=unknown, where=whole > 0))
