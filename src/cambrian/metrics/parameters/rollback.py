"""Rollback of congestion events: the window returns to its value before within two round trips."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from cambrian.metrics.parameters.estimate import Estimate, Missing, Source
from cambrian.metrics.parameters.reductions import Reductions

#: a flight that falls and comes back is a window only if it falls as far as when it stays, within this share
LIKE_OTHERS = 0.1


def estimates(found: Reductions, source: Source) -> Iterator[Estimate | Missing]:
    """The share of events that were undone; resolved to two standard errors of a share and half an event."""
    count, undone = len(found), found.undone
    if source == "packets" and undone.any():
        if undone.all():
            yield Missing("rollback_share", "no lasting congestion event", source)
            return
        ratio = found.after / found.before
        like = np.abs(ratio - np.median(ratio[~undone])) <= LIKE_OTHERS * np.median(ratio[~undone])
        count, undone = int((like | ~undone).sum()), undone & like
    if not count:
        yield Missing("rollback_share", "no congestion event", source)
        return
    share = float(undone.sum() / count)
    error = 2 * math.sqrt(share * (1 - share) / count) + 0.5 / count
    yield Estimate("rollback_share", (share,), error, source, events=count)
