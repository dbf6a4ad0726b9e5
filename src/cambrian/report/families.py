"""One correction a family, over what a page judges together.

Maps and lists of many cells are for exploring: Benjamini and Hochberg's, which lets one in twenty of
what is called different be a false alarm. What a verdict on somebody's stack rests on is corrected by
Holm's, over all tables of the page that judge contestants: a page on which nobody differs accuses
anybody with a chance of 5 % at most, and so does its placebo, however many others do differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cambrian.stats.correction import benjamini_hochberg, holm
from cambrian.stats.interval import FloatArray

#: families whose tests are part of a verdict: conformance, the envelopes of the other methods as they
#: are and moved, and harm to throughput, delay and loss
VERDICT_FAMILIES = 6


def corrected(p: Sequence[float | None]) -> list[float | None]:
    """Adjusted p values of a map or list, in the order given; None stays None, and counts for nothing."""
    return _adjusted(p, benjamini_hochberg)


def of_verdicts(p: Sequence[float | None]) -> list[float | None]:
    """Adjusted p values of one family of verdicts, as :func:`corrected`."""
    return [None if one is None else min(one * VERDICT_FAMILIES, 1.0) for one in _adjusted(p, holm)]


def _adjusted(
    p: Sequence[float | None], method: Callable[[Sequence[float]], FloatArray]
) -> list[float | None]:
    adjusted = iter(method([one for one in p if one is not None]).tolist())
    return [None if one is None else float(next(adjusted)) for one in p]
