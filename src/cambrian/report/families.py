"""One correction a family: Benjamini and Hochberg's, over what a page judges together."""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.stats.correction import benjamini_hochberg


def corrected(p: Sequence[float | None]) -> list[float | None]:
    """Adjusted p values in the order given; None stays None, and counts for nothing."""
    adjusted = iter(benjamini_hochberg([one for one in p if one is not None]).tolist())
    return [None if one is None else float(next(adjusted)) for one in p]
