"""Corrections of p values for families of tests on one page.

Maps and lists of many cells are for exploring. They use Benjamini and Hochberg's correction: at most one in
twenty of the cells that are called different is a false alarm. Tests that decide a verdict on a stack use
Holm's correction over all tables of the page that judge contestants: if no contestant differs, the page
accuses one with a probability of at most 5 %. The same holds for the placebo, even if others differ;
the table of own figures, which decides no verdict, adds at most 0.8 % of pages with a placebo that differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cambrian.stats.correction import benjamini_hochberg, holm
from cambrian.stats.interval import FloatArray
from cambrian.stats.states import LEVEL

#: families whose tests are part of a verdict: conformance, the envelopes of the other methods before and
#: after translation, and harm to throughput, delay and loss
VERDICT_FAMILIES = 6
#: p values so much smaller that none reaches 1 when it is corrected
_SMALL = 1e-9
_LEAST = 1e-200


def corrected(p: Sequence[float | None]) -> list[float | None]:
    """Adjusted p values of a map or list, in the order given; None stays None and is not counted."""
    return _adjusted(p, benjamini_hochberg)


def corrected_for_verdicts(p: Sequence[float | None]) -> list[float | None]:
    """As :func:`corrected`, for one family of verdicts."""
    return [None if one is None else min(one * VERDICT_FAMILIES, 1.0) for one in _adjusted(p, holm)]


def levels(p: Sequence[float | None]) -> list[float | None]:
    """How small each p of a map or list must be for "different", if the others stay as they are."""
    return _levels(p, benjamini_hochberg, 1)


def levels_for_verdicts(p: Sequence[float | None]) -> list[float | None]:
    """As :func:`levels`, for one family of verdicts."""
    return _levels(p, holm, VERDICT_FAMILIES)


def _levels(
    p: Sequence[float | None], method: Callable[[Sequence[float]], FloatArray], families: int
) -> list[float | None]:
    # a corrected p of 1 hides by how much it was corrected
    small = [None if one is None else max(one, _LEAST) * _SMALL for one in p]
    return [
        # a rounding error can make the corrected p the smaller one
        None if one is None or adjusted is None else min(LEVEL * one / (adjusted * families), LEVEL)
        for one, adjusted in zip(small, _adjusted(small, method), strict=True)
    ]


def _adjusted(
    p: Sequence[float | None], method: Callable[[Sequence[float]], FloatArray]
) -> list[float | None]:
    adjusted = iter(method([one for one in p if one is not None]).tolist())
    return [None if one is None else float(next(adjusted)) for one in p]
