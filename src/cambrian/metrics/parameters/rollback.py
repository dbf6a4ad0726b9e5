"""What a window does just after a congestion event: it may be taken back, grow back, or grow in recovery.

It is *taken back* in one step, as after a loss that turns out to be none. It may also *grow back* with the
acknowledgements, as in slow start. A flight does not show which. It *grows in recovery* if acknowledgements
of packets that were sent before the cut let it grow.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cambrian.metrics.columns import BoolArray, FloatArray
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source, of_share
from cambrian.metrics.parameters.flight import Flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.reductions import EARLY_SHARE, Reductions
from cambrian.metrics.parameters.window import Window

#: a flight that falls and comes back is a window only if it falls as far as when it stays, within this share
LIKE_OTHERS = 0.1
#: recovery is over so many times later
OVER_TRIPS = 2.5
#: smallest growth in recovery, in segments; less may be rounding
GROWTH_SEGMENTS = 0.5


def estimates(
    found: Reductions, source: Source, marked: BoolArray, changing: str
) -> Iterator[Estimate | Missing]:
    """The shares of events that were taken back and, in a window and after losses, that grew back.

    ``marked``: events that answer CE marks only, shape (n,): RFC 8511 allows to keep more then. ``changing``:
    what the path does that is not steady. A sender then takes packets that come late for lost, and is right
    to take its cut back when they arrive.
    """
    if changing:
        for name in ("rollback_share", "regrown_share") if source == "window" else ("rollback_share",):
            yield Missing(name, changing, source)
        return
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


def in_recovery(
    found: Reductions, own: Window, flown: Flight, trace: FlowTrace, unexplained: BoolArray
) -> Estimate | Missing:
    """The share of cuts after which an exported window grows in recovery.

    Source: RFC 9002, section 7.3.2: recovery ends when a packet that was sent in it is acknowledged, and the
    window is the threshold then. Cuts that do not last count for :func:`estimates`; ``unexplained`` cuts,
    shape (n,), begin no recovery.
    """
    if not trace.steady:
        return Missing("recovery_growth", trace.changing)
    grown = _grown_early(found, own, flown, trace)[found.lasting & ~unexplained]
    grown = grown[np.isfinite(grown)]
    if not len(grown):
        why = "the log has no threshold, or no row between a cut and a round trip after it"
        return Missing("recovery_growth", why)
    return of_share("recovery_growth", int(grown.sum()), len(grown), own.source)


def _grown_early(found: Reductions, own: Window, flown: Flight, trace: FlowTrace) -> FloatArray:
    """Does the window grow beyond the threshold in recovery, and stay so? 1, 0 or NaN if unknown, shape (n,).

    A window that duplicate acknowledgements inflate is back at the threshold when recovery ends (RFC 5681,
    section 3.2). One that comes to it from below is at most at the threshold (RFC 6937).
    """
    first = np.searchsorted(own.time_ns, found.start_ns)
    settled = np.searchsorted(own.time_ns, found.settled_ns, side="right") - 1
    # the cut was made some time after the row before its own
    cut_ns = own.time_ns[(first - 1).clip(min=0)]
    at_ns = cut_ns + trace.forward_ns
    last = (np.searchsorted(flown.arrival_ns, at_ns, side="right") - 1).clip(min=0)
    acknowledged_ns = np.maximum(flown.arrival_ns[last] + flown.round_trip_ns[last] - at_ns, trace.rtt_ns)
    early, over = (
        np.searchsorted(own.time_ns, cut_ns + (trips * acknowledged_ns).astype(np.int64), side="right")
        for trips in (EARLY_SHARE, OVER_TRIPS)
    )
    grown = np.full(len(found), np.nan)
    for event, (row, before, after) in enumerate(zip(settled, early, over, strict=True)):
        threshold = own.ssthresh[row]
        # the next cut sets another threshold
        until = row + int(np.argmax(np.append(own.ssthresh[row:after] != threshold, True)))
        end = min(before, until)
        if end > row + 1 and np.isfinite(threshold):
            least = max(own.segments[row], threshold) + GROWTH_SEGMENTS
            stays = own.segments[end - 1 : until].min() > least
            grown[event] = stays and own.segments[row + 1 : end].max() > least
    return grown
