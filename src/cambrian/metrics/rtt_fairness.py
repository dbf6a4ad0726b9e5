"""RTT-unfairness: how throughput falls with the round trip among flows of one controller.

T₁/T₂ = (RTT₂/RTT₁)^p. Equal throughputs have p = 0; windows that do not depend on the round trip have p = 1.
AIMD flows lie between 1 and 2: 2 if all flows lose at once (Lakshman and Madhow, IEEE/ACM
Transactions on Networking 5 (1997)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cambrian.metrics.columns import FloatArray


def exponent(rtts_ms: tuple[float, float], throughputs_mbps: tuple[float, float]) -> float:
    """p of two flows, from base round trips and throughputs.

    NaN where the round trips are equal or a flow carried nothing.
    """
    if min(rtts_ms) <= 0 or min(throughputs_mbps) < 0:
        raise ValueError(
            f"need round trips above 0 and throughputs of 0 or more: {rtts_ms}, {throughputs_mbps}"
        )
    if min(throughputs_mbps) == 0 or rtts_ms[0] == rtts_ms[1]:
        return math.nan
    return math.log(throughputs_mbps[0] / throughputs_mbps[1]) / math.log(rtts_ms[1] / rtts_ms[0])


def pooled(rtt_ratios: Sequence[float], exponents: Sequence[FloatArray]) -> FloatArray:
    """One p for several round-trip ratios: the log-log slope through (1, 1), by least squares.

    ``exponents[i]`` holds what was found at ``rtt_ratios[i]``, each an array of one shape,
    which is the result's. Equal round trips give an even split by symmetry, hence no
    intercept. Small ratios weigh little, as ln² of themselves.
    """
    weights = np.square(np.log(np.asarray(rtt_ratios, dtype=np.float64)))
    if len(weights) != len(exponents) or weights.sum() == 0:
        raise ValueError("give one set of exponents a ratio, and a ratio other than 1")
    return np.asarray(
        np.tensordot(weights, np.stack([np.asarray(p) for p in exponents]), axes=1) / weights.sum()
    )
