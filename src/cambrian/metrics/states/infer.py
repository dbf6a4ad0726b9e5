"""States of a loss-based controller that exports its window and not its state.

The rules:

* **slow start** where the window is below the threshold; without a threshold, from the start (and from
  each collapse of the window) until a cut, or until the window grows by less than half in two smoothed
  round trips: slow start makes it four times as large, two or three times where pauses interrupt it;
* **recovery** for one smoothed round trip from each cut of the window (RFC 9002, section 7.3.2);
* **congestion avoidance** otherwise;
* **at its maximum** where a window that always grows in congestion avoidance (CUBIC's, Reno's) stays at
  the trial's largest for 5 s and more, used: the rule of Kakhki et al.'s CongestionAvoidanceMaxed;
* **application limited** where less than half of it is in flight for three round trips and more. (A flight
  is named at an ACK, without what that ACK lets out: shorter lows are bunched ACKs.)
"""

from __future__ import annotations

import numpy as np

from cambrian.metrics.columns import BoolArray, FloatArray, Int64Array
from cambrian.metrics.states.rows import COLLAPSED_BYTES, Rows

#: growth in this many round trips that tells slow start (4) from congestion avoidance (near 1)
_GROWTH = 1.5
_GROWTH_ROUNDS = 2
#: CUBIC's curve is flat to within a packet for 2 · (1/C)^(1/3) = 2.7 s around its inflection
_MAXED_NS = 5_000_000_000
#: of the window, less in flight than this leaves it unused, more uses it
_HALF = 0.5
_USED = 0.8
_IDLE_ROUNDS = 3


def slow_start(rows: Rows) -> BoolArray:
    """Rows in slow start, by the threshold or by growth; shape (n,)."""
    if rows.has_threshold:
        return np.asarray(rows.cwnd_bytes < rows.ssthresh_bytes)
    time_ns, cwnd = rows.time_ns, rows.cwnd_bytes
    judged_ns = time_ns + (_GROWTH_ROUNDS * rows.rtt_ns).astype(np.int64)
    later = np.searchsorted(time_ns, judged_ns, side="right") - 1
    cuts = np.cumsum(rows.cut)
    # a window that has not moved yet waits for its first round trip, and a cut ahead is judged by itself
    moved = cwnd != np.r_[np.nan, cwnd[:-1]]
    whole = judged_ns <= time_ns[-1]
    steady = moved & whole & (cuts[later] == cuts) & (cwnd[later] < _GROWTH * cwnd)
    found = np.zeros(len(rows), bool)
    for start, window in _starts(rows):
        ends = np.flatnonzero((steady[start:] & (cwnd[start:] > window)) | _cut_after(rows, start))
        found[start : start + ends[0] if len(ends) else None] = True
    return found


def _starts(rows: Rows) -> list[tuple[int, float]]:
    """Rows at which slow start begins, and the window there: the first, and each collapse."""
    cwnd = rows.cwnd_bytes
    first = int(np.argmax(np.isfinite(cwnd)))
    small = cwnd <= COLLAPSED_BYTES
    before = np.r_[np.nan, cwnd[:-1]]
    collapses = np.flatnonzero(small & (cwnd < before / 4))
    return [(int(start), float(cwnd[start])) for start in (first, *collapses)]


def _cut_after(rows: Rows, start: int) -> BoolArray:
    """Cuts and losses from ``start`` on, without that at ``start`` itself."""
    cut = (rows.cut | rows.lost)[start:].copy()
    cut[0] = False
    return cut


def recovery(rows: Rows) -> BoolArray:
    """Within one smoothed round trip of a cut that left a window to go on with; shape (n,)."""
    cut = rows.cut & (rows.cwnd_bytes > COLLAPSED_BYTES)
    last = _last(cut)
    since_ns = rows.time_ns - rows.time_ns[np.maximum(last, 0)]
    return np.asarray((last >= 0) & (since_ns < rows.rtt_ns[np.maximum(last, 0)]))


def maxed(rows: Rows, avoidance: BoolArray) -> BoolArray:
    """Rows where congestion avoidance stays at the trial's largest window, used; shape (n,)."""
    if not rows.has_window or not avoidance.any():
        return np.zeros(len(rows), bool)
    flat = avoidance & (rows.cwnd_bytes == rows.cwnd_bytes[avoidance].max())
    used = flat & (rows.in_flight_bytes >= _USED * rows.cwnd_bytes)
    # a window is used where most of the rows at its largest are
    if not flat.any() or used.sum() < _HALF * flat.sum():
        return np.zeros(len(rows), bool)
    return lasting(rows, flat, least_ns=_MAXED_NS)


def application_limited(rows: Rows) -> BoolArray:
    """Rows where less than half of the window is in flight for three smoothed round trips or more."""
    idle = rows.in_flight_bytes < _HALF * rows.cwnd_bytes
    return lasting(rows, idle, least_ns=_IDLE_ROUNDS * rows.rtt_ns)


def lasting(
    rows: Rows, where: BoolArray, *, least_ns: float | FloatArray, most_ns: float = np.inf
) -> BoolArray:
    """``where`` without its runs shorter than ``least_ns`` (at their start) or longer than ``most_ns``."""
    edges = np.diff(np.r_[0, where.astype(np.int8), 0])
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    # a row holds until the next one
    length_ns = rows.time_ns[np.minimum(ends, len(rows) - 1)] - rows.time_ns[starts]
    kept = (length_ns >= np.broadcast_to(least_ns, len(rows))[starts]) & (length_ns <= most_ns)
    marks = np.zeros(len(rows) + 1, np.int64)
    marks[starts[kept]] = 1
    marks[ends[kept]] = -1
    return np.asarray(np.cumsum(marks)[:-1] > 0)


def until_answered(where: BoolArray, answers: BoolArray) -> BoolArray:
    """From each row of ``where`` to the next of ``answers``, which is not in it; shape (n,)."""
    return np.asarray(_last(where) > _last(answers & ~where))


def _last(where: BoolArray) -> Int64Array:
    """Index of the last row of ``where`` up to each; −1 before the first."""
    return np.maximum.accumulate(np.where(where, np.arange(len(where)), -1))
