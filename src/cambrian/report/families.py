"""Corrections of p values for families of tests on one page.

Maps and lists of many cells are for exploring. They use Benjamini and Hochberg's correction: at most one in
twenty of the cells that are called different is a false alarm. Tests that decide a verdict on a stack use
Holm's correction over all tables of the page that judge contestants: if no contestant differs, the page
accuses one with a probability of at most 5 %. The same holds for the placebo, even if others differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cambrian.stats.correction import benjamini_hochberg, holm
from cambrian.stats.interval import FloatArray

#: families whose tests are part of a verdict: conformance, the envelopes of the other methods before and
#: after translation, and harm to throughput, delay and loss
VERDICT_FAMILIES = 6


def corrected(p: Sequence[float | None]) -> list[float | None]:
    """Adjusted p values of a map or list, in the order given; None stays None and is not counted."""
    return _adjusted(p, benjamini_hochberg)


def corrected_for_verdicts(p: Sequence[float | None]) -> list[float | None]:
    """As :func:`corrected`, for one family of verdicts."""
    return [None if one is None else min(one * VERDICT_FAMILIES, 1.0) for one in _adjusted(p, holm)]


def _adjusted(
    p: Sequence[float | None], method: Callable[[Sequence[float]], FloatArray]
) -> list[float | None]:
    adjusted = iter(method([one for one in p if one is not None]).tolist())
    return [None if one is None else float(next(adjusted)) for one in p]
