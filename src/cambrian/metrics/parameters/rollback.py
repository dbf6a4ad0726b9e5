"""Congestion events that do not last: the window is back at its value before within two round trips.

It is *taken back* in one step, as after a loss that turns out to be none. It may also *grow back* with the
acknowledgements, as in slow start. A flight does not show which.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cambrian.metrics.columns import BoolArray
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source, of_share
from cambrian.metrics.parameters.reductions import Reductions

#: a flight that falls and comes back is a window only if it falls as far as when it stays, within this share
LIKE_OTHERS = 0.1


def estimates(found: Reductions, source: Source, marked: BoolArray) -> Iterator[Estimate | Missing]:
    """The shares of events that were taken back and, in a window and after losses, that grew back.

    ``marked``: events that answer CE marks only, shape (n,): RFC 8511 allows to keep more then.
    """
    count, undone = len(found), found.undone
    if source == "packets" and undone.any():
        if undone.all():
            yield Missing("rollback_share", "no lasting congestion event", source)
            return
        ratio = found.after / found.before
        like = np.abs(ratio - np.median(ratio[~undone])) <= LIKE_OTHERS * np.median(ratio[~undone])
        count, undone = int((like | ~undone).sum()), undone & like
    shares = {"rollback_share": (undone, count)}
    if source == "window":
        shares["regrown_share"] = (found.grown & ~marked, int((~marked).sum()))
    for name, (these, of) in shares.items():
        if of:
            yield of_share(name, int(these.sum()), of, source)
        else:
            yield Missing(name, "no congestion event", source)
