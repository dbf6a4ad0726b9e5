"""Whether a congestion event lowers a sender's flight, and how often the sender reduces its window for it.

An episode contains the drops (or CE marks) of packets that the sender sent before it learnt of the
first one: one congestion event by RFC 9002 section 7.3.2 and RFC 6675 section 5. It is *answered* if the
flight is lower one round trip later and stays lower, independent of the sender's log: a window that falls and
recovers within the round trip is no answer.

A sender may declare a loss later than it could (RFC 9002 section 6.1). So the first row of its log that tells
of a loss within three round trips begins the episode of a drop. Without a log, drops without an answer say
nothing if an answer comes within three round trips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cambrian.metrics.columns import BoolArray, FloatArray, Int64Array
from cambrian.metrics.parameters.flight import LATE, NEVER_NS, Flight
from cambrian.metrics.parameters.window import Window, falls_at_once

#: the flight is compared with the earlier one this long after the first signal, in round trips
SEEN = (0.8, 1.8)
#: smallest fall of a flight that counts, as a share and in segments
LEAST_FALL, LEAST_SEGMENTS = 0.05, 1.5
#: smallest flight, in segments, in which a fall of a tenth is visible
SMALLEST_FLIGHT = 20.0
#: smallest share by which a cut lowers the window at once
CUT = 0.1
#: largest relative difference of equal thresholds, and of a window and its threshold
SAME_THRESHOLD = 0.03
#: round trips within which a second cut belongs to the same episode, if no other packet was lost
SAME_TRIPS = 1.5
#: a loss is declared at most so many round trips after the sender can know of it
LATEST_TRIPS = 3.0
#: round trips without queueing before a loss of data sent after a cut can cause the next cut
WITHIN_TRIPS = 0.9
#: largest window, in segments, after a timeout
TIMEOUT_SEGMENTS = 2.5


@dataclass(frozen=True)
class CongestionResponses:
    """The response to each episode; arrays of shape (n,), in order of time.

    ``learnt_ns``: earliest time at which the sender can know of the first drop or mark, on the queue's clock.
    ``signals``: number of drops or marks. ``marked``: all signals are CE marks. ``left``: flight one round
    trip later over the flight before; NaN if it is not visible. ``fell``: the flight is lower. ``cuts``:
    number of cuts of the exported window; −1 if it is unknown (a single drop, more drops in the same round
    trip, no window).
    """

    learnt_ns: Int64Array
    signals: Int64Array
    marked: BoolArray
    left: FloatArray
    fell: BoolArray
    cuts: Int64Array

    @property
    def observable(self) -> BoolArray:
        """Episodes whose flight shows a response or its absence, shape (n,)."""
        return np.isfinite(self.left)


def congestion_responses(
    found: Flight, envelope: Window, own: Window | None, forward_ns: int, declared_ns: Int64Array
) -> CongestionResponses:
    """The responses of one flow to all its episodes.

    Parameters:
        found: the flow's flight.
        envelope: upper envelope of the flight, in segments.
        own: the window that the stack exports; None without one.
        forward_ns: propagation delay from the sender to the queue.
        declared_ns: the sender's times at which its log tells of losses, in order; empty without such rows.
    """
    rows = _episodes(found, declared_ns + forward_ns)
    left = np.array([_left(found, envelope, row) for row in rows], dtype=float).reshape(-1, 2)
    ratio = left[:, 1] / np.maximum(left[:, 0], 1e-9)
    fell = (ratio <= 1 - LEAST_FALL) & (left[:, 0] - left[:, 1] >= LEAST_SEGMENTS)
    if not len(declared_ns):
        ratio = np.where(_answered_late(rows, fell), np.nan, ratio)
    return CongestionResponses(
        learnt_ns=np.array([row.learnt_ns for row in rows], np.int64),
        signals=np.array([row.signals for row in rows], np.int64),
        marked=np.array([row.marked for row in rows], bool),
        left=ratio,
        fell=fell,
        cuts=np.array(_cuts(own, rows, forward_ns, int(found.round_trip_ns.min(initial=NEVER_NS))), np.int64),
    )


@dataclass(frozen=True)
class _Episode:
    """``known_ns``: the sender can know of the first signal. ``learnt_ns``: it does, by its log.

    ``strict``: the sender sent all drops before it learnt of the first, and none for a while after it.
    """

    known_ns: int
    learnt_ns: int
    next_ns: int
    trip_ns: int
    signals: int
    marked: bool
    strict: bool


def _episodes(found: Flight, declared_ns: Int64Array) -> list[_Episode]:
    order = np.argsort(found.learnt_ns, kind="stable")
    learnt_ns, sent_ns, marks = found.learnt_ns[order], found.signal_ns[order], found.marked[order]
    # what was dropped last may never be learnt of
    count = int(np.searchsorted(learnt_ns, NEVER_NS))
    rows, position = [], 0
    while position < count:
        known_ns = int(learnt_ns[position])
        trip_ns = found.trip_ns(known_ns)
        told_ns = known_ns if marks[position] else _declared(known_ns, trip_ns, declared_ns)
        first_ns = max(known_ns, told_ns)
        after, latest = (
            int(np.searchsorted(sent_ns, first_ns + round(share * trip_ns), side="right"))
            for share in (LATE, SAME_TRIPS)
        )
        after = max(after, position + 1)
        last_sent_ns = int(sent_ns[position:after].max())
        rows.append(
            _Episode(
                known_ns,
                first_ns,
                int(learnt_ns[after]) if after < count else NEVER_NS,
                trip_ns,
                after - position,
                bool(marks[position:after].all()),
                # on a slow link its timer may tell it before later packets can
                (last_sent_ns < told_ns or known_ns <= told_ns)
                and last_sent_ns <= first_ns
                and latest <= after,
            )
        )
        position = after
    return rows


def _declared(first_ns: int, trip_ns: int, declared_ns: Int64Array) -> int:
    """When the sender declares a loss, by its log; by later packets it can know of it at ``first_ns``."""
    row = int(np.searchsorted(declared_ns, first_ns - round(LATE * trip_ns)))
    if row == len(declared_ns) or declared_ns[row] > first_ns + round(LATEST_TRIPS * trip_ns):
        return first_ns
    return int(declared_ns[row])


def _answered_late(rows: list[_Episode], fell: BoolArray) -> BoolArray:
    """Episodes of drops without an answer that are soon followed by an answer to drops, shape (n,)."""
    found = np.zeros(len(rows), bool)
    answer_ns: int | None = None
    for number, row in reversed(list(enumerate(rows))):
        if row.marked:
            continue
        if fell[number]:
            answer_ns = row.learnt_ns
        elif answer_ns is not None:
            found[number] = answer_ns - row.learnt_ns <= LATEST_TRIPS * row.trip_ns
    return found


def _left(found: Flight, envelope: Window, episode: _Episode) -> tuple[float, float]:
    """The flight before an episode and a round trip after it, in segments; NaN if it is not visible."""
    arrival_ns = found.arrival_ns
    # a log may be late, and the flight lower by then
    at = int(np.searchsorted(arrival_ns, episode.known_ns))
    begin_ns, end_ns = (episode.learnt_ns + round(trips * episode.trip_ns) for trips in SEEN)
    begin, end = np.searchsorted(arrival_ns, [begin_ns, min(end_ns, episode.next_ns)])
    before = float(envelope.segments[at - 1]) if at else 0.0
    if before < SMALLEST_FLIGHT or arrival_ns[-1] < end_ns:
        return np.nan, np.nan
    if end <= begin:
        # silent all the while: nothing is in flight any more
        return (before, 0.0) if episode.next_ns >= end_ns else (np.nan, np.nan)
    if end - begin < 2 * envelope.length:
        # so few packets that the envelope remembers the flight before: what was sent in that time alone
        return before, float(found.flight_bytes[begin:end].max()) / envelope.unit_bytes
    return before, float(np.median(envelope.segments[begin:end]))


def _cuts(own: Window | None, rows: list[_Episode], forward_ns: int, rtt_ns: int) -> list[int]:
    if own is None or not len(own.segments):
        return [-1] * len(rows)
    sudden = falls_at_once(own, rtt_ns)
    return [_of_episode(own, row, forward_ns, sudden) for row in rows]


def _of_episode(own: Window, episode: _Episode, forward_ns: int, sudden: BoolArray) -> int:
    if episode.signals < 2 or not episode.strict or episode.marked:
        return -1
    since_ns = episode.learnt_ns - forward_ns
    begin, end = np.searchsorted(
        own.time_ns, [since_ns - episode.trip_ns // 2, since_ns + round(SAME_TRIPS * episode.trip_ns)]
    )
    if end == len(own.time_ns) or end - begin < 2 or own.timeout[begin:end].any():
        return -1
    return _counted(own.segments[begin:end], own.ssthresh[begin:end], sudden[begin : end - 1])


def _counted(segments: FloatArray, threshold: FloatArray, sudden: BoolArray) -> int:
    """Reductions in an episode's rows, without those that were taken back; −1 if they are unknown."""
    fell = segments[1:] <= (1 - CUT) * segments[:-1]
    if (fell & ~sudden & ~np.isfinite(threshold[1:])).any():
        return -1
    count, last = 0, 0.0
    for row, is_restored in _changes(segments, threshold, sudden):
        if is_restored:
            count, last = max(count - 1, 0), 0.0
        else:
            count, last = _next(segments, threshold, row, count, last)
    return count


def _next(
    segments: FloatArray, threshold: FloatArray, row: int, count: int, last: float
) -> tuple[int, float]:
    """Count one more reduction; a window that falls to a counted threshold adds none."""
    new = float(threshold[row])
    lowered = new <= (1 - SAME_THRESHOLD) * float(threshold[row - 1])
    if np.isfinite(new) and not lowered and abs(new - last) <= SAME_THRESHOLD * last:
        return count, last
    return count + 1, new if np.isfinite(new) else last


def _changes(segments: FloatArray, threshold: FloatArray, sudden: BoolArray) -> Iterator[tuple[int, bool]]:
    """Rows of reductions and of restorations, in order, and whether each is a restoration.

    A reduction: the threshold falls, or the window falls at once (to its threshold, if it has one). A window
    that goes down to its threshold over a round trip is one reduction: the threshold is set once. Without a
    threshold only ``sudden`` falls are reductions, which acknowledgements do not explain; shape (n − 1,).

    A restoration: the window rises at once to what it was before the last reduction, and the threshold
    changes with it, up or down. So a sender takes a reduction back once it finds that no packet was lost.
    """
    before, after = threshold[:-1], threshold[1:]
    fell = segments[1:] <= (1 - CUT) * segments[:-1]
    rose = segments[1:] >= (1 + CUT) * segments[:-1]
    told = np.isfinite(after) & np.isfinite(before)
    with np.errstate(invalid="ignore"):
        # above all windows so far, such as 2³¹, it stands for none: the end of slow start may set it to the
        # window, which is no reduction
        was_set = before <= (1 + SAME_THRESHOLD) * np.maximum.accumulate(segments)[:-1]
        lowered = (after <= (1 - SAME_THRESHOLD) * before) & (
            was_set | fell | (after <= (1 - CUT) * segments[1:])
        )
        at_it = np.abs(segments[1:] - after) <= SAME_THRESHOLD * after
        is_other = np.abs(after - before) > SAME_THRESHOLD * before
    reduced = np.where(told, lowered | (fell & at_it), fell & sudden)
    risen = rose & np.where(told, is_other, np.isfinite(after) != np.isfinite(before))
    old = np.inf
    for row in map(int, np.flatnonzero(reduced | risen) + 1):
        if risen[row - 1] and segments[row] >= (1 - CUT) * old:
            old = np.inf
            yield row, True
        elif reduced[row - 1]:
            old = float(segments[row - 1])
            yield row, False


def cuts_in_round_trips(own: Window, rtt_ns: int) -> Int64Array:
    """Number of cuts of an exported window within a round trip without queueing, for each first cut.

    A sender cannot know so soon of a loss of data that it sent after the cut. So one cut is correct on every
    path. The window alone is enough. Timeouts do not count, and after a cut that was taken back the next one
    is a first cut.
    """
    counts: list[int] = []
    began_ns, last = -NEVER_NS // 2, 0.0
    set_ns = _set_ns(own)
    for row, is_restored in _changes(own.segments, own.ssthresh, falls_at_once(own, rtt_ns)):
        # a reduction is made when its threshold is set, also if the window takes longer to come down to it
        now_ns = int(set_ns[row])
        if is_restored:
            began_ns, last = -NEVER_NS // 2, 0.0
            continue
        if own.segments[row] <= TIMEOUT_SEGMENTS or own.timeout[row]:
            continue
        added, last = _next(own.segments, own.ssthresh, row, 0, last)
        if not added:
            # a reduction that takes longer than a round trip ends with this row
            continue
        if now_ns - began_ns >= WITHIN_TRIPS * rtt_ns:
            began_ns = now_ns
            counts.append(0)
        counts[-1] += 1
    return np.array(counts, np.int64)


def _set_ns(own: Window) -> Int64Array:
    """The time at which each row's threshold was set, shape (n,); the row's own time without a threshold."""
    # an unknown threshold equals no other one
    first = np.concatenate(([True], own.ssthresh[1:] != own.ssthresh[:-1]))[: len(own.time_ns)]
    found: Int64Array = own.time_ns[np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))]
    return found
