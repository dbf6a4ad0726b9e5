"""Hedges' small-sample correction of a standardised mean difference."""

from __future__ import annotations

import math

import scipy


def correction(df: float) -> float:
    """J(df) = Γ(df/2) / (√(df/2)·Γ((df−1)/2)); NaN for df ≤ 1, where it is undefined.

    Source: Hedges, J. Educ. Stat. 6 (1981), the exact form.
    """
    if df <= 1:
        return math.nan
    return math.exp(scipy.special.gammaln(df / 2) - scipy.special.gammaln((df - 1) / 2)) / math.sqrt(df / 2)
