"""Congestion events in an exported window: the window before and after each fall.

They are found in the window itself, because stacks log losses differently: some log each packet, some each
recovery period, some only sample. A fall may be at once or over a recovery period (proportional rate
reduction, RFC 6937): one event is a run of falls without a rise.
:mod:`~cambrian.metrics.parameters.flight_reductions` finds them without a window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cambrian.metrics.columns import BoolArray, FloatArray, Int64Array, int64
from cambrian.metrics.parameters.flight import LATE, Flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.window import Window, falls_at_once, frame_bytes
from cambrian.metrics.recovery.episodes import REACTIONS
from cambrian.metrics.theory import CUBIC_C

#: a step of this share of the window is a reduction at once, if acknowledgements do not explain it; two of
#: them are two reductions
AT_ONCE = 0.05
#: smallest fall that is a reduction, as a share and in segments
SMALLEST_SHARE = 0.02
SMALLEST_SEGMENTS = 1.5
#: largest window, in segments, after a timeout (RFC 5681 section 3.1, RFC 9002 section 7.6.2)
TIMEOUT_SEGMENTS = 2.5
#: largest rise in the middle of a fall, as a share and in segments
RISE_SHARE = 0.02
RISE_SEGMENTS = 2.0
#: a new threshold is lower than this share of the old one
NEW_THRESHOLD = 0.97
#: a window is at its threshold if it is so near, in segments
AT_THRESHOLD = 1.0
#: a window is back at this share of what it was, with this share of the cut. It has been taken back if that
#: is within so many round trips, and after a cut of so many segments: what growth makes good says nothing
BACK, BACK_OF_CUT = 0.98, 0.95
UNDONE_TRIPS, UNDONE_SEGMENTS = 2.0, 5.0
#: a step of this share of the cut takes it back; acknowledgements let a window grow in many steps
ONE_STEP = 0.5
#: no packet that was sent after a cut is acknowledged before the last one that was sent before it; this share
#: of the time until then allows for the log's clock. In it Reno's window would grow by a packet
EARLY_SHARE = 0.8
#: a window that grows back may take so many round trips, and its cut has at least so many segments:
#: Reno's growth makes good what is less
GROWN_TRIPS, GROWN_SEGMENTS = 3.0, 10.0
#: growth that takes less than this share of CUBIC's time back is not CUBIC's: 95 % of the cut take 0.63 of it
SOONER = 0.5
#: a cut so long after the last sign of a loss or mark has another cause: in round trips, and at least
EXPLAINS_TRIPS, EXPLAINS_NS = 8.0, 1_000_000_000
#: time by which a log's cut may come before its loss, at least
LOG_LATE_NS = 100_000_000
#: a fall's own row explains it if the queue has dropped or marked a packet so recently: in round trips, and
#: at least. Some losses are learnt of only after timeouts
QUIET_TRIPS, QUIET_NS = 20.0, 2_000_000_000
#: the fall and the two rows before it are at most so many round trips apart
RARE_TRIPS = 8.0
#: a window is in use if this share of it is in flight
IN_USE = 0.9


@dataclass(frozen=True)
class Reductions:
    """Congestion events in order of time, without timeouts.

    ``start_ns``, ``settled_ns``: the sender's time at which the fall begins, and when it is over.
    ``before``, ``after``: the window in segments, just before and settled.
    ``undone``: the window was back where it had been within two round trips, in a window mostly in one step.
    ``grown``: it was back within three, step by step, as acknowledgements let it grow; False for a flight.
    ``unseen``: segments of growth that may hide between the fall and the rows beside it; infinite if rows are
    so rare that nothing shows what the window was; 0 for a flight.
    """

    start_ns: Int64Array
    settled_ns: Int64Array
    before: FloatArray
    after: FloatArray
    undone: BoolArray
    grown: BoolArray
    unseen: FloatArray

    @property
    def lasting(self) -> BoolArray:
        """The window did not come back within two or three round trips, shape (n,)."""
        return ~(self.undone | self.grown)

    def __len__(self) -> int:
        return len(self.start_ns)


def in_window(window: Window, found: Flight, forward_ns: int) -> Reductions:
    """The reductions of an exported window.

    Parameters:
        window: it, in segments.
        found: the flow's flight (at least one packet), for the round trips with queueing.
        forward_ns: propagation delay from the sender to the queue.
    """
    w, time = window.segments, window.time_ns
    falls = np.flatnonzero(np.diff(w) < 0)
    if not len(falls):
        return nothing()
    apart = _apart(window, falls, found.round_trip_ns)
    first = np.flatnonzero(np.concatenate(([True], apart)))
    last = np.concatenate((first[1:] - 1, [len(falls) - 1]))
    start, end = falls[first], falls[last] + 1
    timeouts = np.concatenate(([0], np.cumsum(window.timeout)))
    # below its threshold a window has not settled: recovery goes on, or slow start comes
    settled = ~(w[end] < window.ssthresh[end] - SMALLEST_SEGMENTS)
    # a flow that comes to nothing in recovery: its window was still on the way down to the threshold
    settled &= ~((end == len(w) - 1) & (w[end] > window.ssthresh[end] + AT_THRESHOLD))
    kept = real(w[start], w[end]) & settled & (timeouts[end + 1] == timeouts[start])
    start, end = start[kept], end[kept]
    trips_ns = found.trips_ns(time[start + 1] + forward_ns)
    new = ~_ends_recovery(window, start, end, trips_ns)
    start, end, trips_ns = start[new], end[new], trips_ns[new]
    undone, grown = _back(window, start, end, trips_ns)
    # recovery may inflate a window by what duplicate acknowledgements tell (RFC 5681 section 3.2): it ends
    # with a fall to the same value, and without another loss
    grown &= _lost_again(time[end] + trips_ns, time[start + 1] + trips_ns, found.learnt_ns - forward_ns)
    unseen = _step_up(w, start) + _step_up(w, np.minimum(end + 1, len(w) - 1))
    unseen[time[start + 1] - time[np.maximum(start - 1, 0)] > RARE_TRIPS * trips_ns] = np.inf
    return Reductions(
        start_ns=time[start + 1],
        settled_ns=time[end],
        before=w[start],
        after=w[end],
        undone=undone,
        grown=grown,
        unseen=unseen,
    )


def real(before: FloatArray, after: FloatArray) -> BoolArray:
    """Falls that are large enough for a reduction and not caused by a timeout, shape (n,)."""
    cut = before - after
    return (cut >= SMALLEST_SHARE * before) & (cut >= SMALLEST_SEGMENTS) & (after > TIMEOUT_SEGMENTS)


def nothing() -> Reductions:
    """No reductions: arrays of length 0."""
    times, values, flags = np.empty(0, np.int64), np.empty(0), np.empty(0, bool)
    return Reductions(times, times, values, values, flags, flags, values)


def _step_up(segments: FloatArray, rows: Int64Array) -> FloatArray:
    """Growth of the window since the row before each of ``rows``: so much may hide between two rows."""
    return np.maximum(segments[rows] - segments[np.maximum(rows - 1, 0)], 0.0)


def _apart(window: Window, falls: Int64Array, round_trips_ns: Int64Array) -> BoolArray:
    """For each two neighbouring falls: do they belong to two reductions?

    Within a round trip, falls that are not at once are one reduction, unless the window is back in between.
    """
    w, time, threshold = window.segments, window.time_ns, window.ssthresh
    bottom, top = falls[:-1] + 1, falls[1:]
    highest = np.maximum.reduceat(w, np.column_stack((bottom, top + 1)).ravel())[::2] if len(top) else w[:0]
    at_once = falls_at_once(window, int(round_trips_ns.min()))[falls]
    at_once &= w[falls] - w[falls + 1] >= AT_ONCE * w[falls]
    risen = highest > w[bottom] + np.maximum(RISE_SEGMENTS, RISE_SHARE * w[bottom])
    risen &= at_once[:-1] | at_once[1:] | (highest >= BACK * w[falls[:-1]])
    # without a row in between, nothing shows for some round trips that the window rested
    longest = np.where(top > bottom, 1.0, RARE_TRIPS) * round_trips_ns.max()
    long_ago = time[top + 1] - time[bottom] > longest
    lowered = threshold[top + 1] < NEW_THRESHOLD * threshold[bottom]
    other = risen | long_ago | lowered
    again = at_once[:-1] & at_once[1:] & ~_to_threshold(window, falls, other)
    return np.asarray(other | again, dtype=bool)


def _to_threshold(window: Window, falls: Int64Array, apart: BoolArray) -> BoolArray:
    """For each two neighbouring falls: are they on the way to one threshold, which the window comes to?

    The threshold is set once for each reduction (RFC 6937 section 3), so whatever steps lead to it are one.
    A threshold that the window does not come to may be an old one.
    """
    last = np.append(np.flatnonzero(apart), len(falls) - 1)
    end = falls[last[np.searchsorted(last, np.arange(len(falls) - 1))]] + 1
    # the first of the two leads to it only from above
    above = window.segments[falls[:-1] + 1] > window.ssthresh[end]
    return np.asarray(above & (np.abs(window.segments[end] - window.ssthresh[end]) <= AT_THRESHOLD), bool)


@dataclass(frozen=True)
class Signals:
    """``drops``, ``marks``: how many of each the sender had just learnt of at each event, shape (n,) each."""

    drops: Int64Array
    marks: Int64Array

    @property
    def only_marks(self) -> BoolArray:
        """Events that answer marks and no drop, shape (n,)."""
        return np.asarray((self.marks > 0) & (self.drops == 0), dtype=bool)


def signals(events: Reductions, found: Flight, forward_ns: int) -> Signals:
    """What the sender had learnt of at each event: from a round trip before it to a little after it."""
    at_ns = events.start_ns + forward_ns
    trip_ns = found.trips_ns(at_ns)
    drops_ns, marks_ns = (np.sort(found.learnt_ns[which]) for which in (~found.marked, found.marked))
    begin_ns, end_ns = at_ns - trip_ns, at_ns + (LATE * trip_ns).astype(np.int64)
    drops, marks = (
        np.searchsorted(learnt_ns, end_ns, side="right") - np.searchsorted(learnt_ns, begin_ns)
        for learnt_ns in (drops_ns, marks_ns)
    )
    return Signals(drops, marks)


@dataclass(frozen=True)
class Causeless:
    """``cuts``: before these events the sender had learnt of no loss and no mark for a long time.

    ``allowed``: those of them after a pause, or where the window was not used: a sender may lower it then
    (RFC 9002 section 7.8, RFC 7661). Shape (n,) each.
    """

    cuts: BoolArray
    allowed: BoolArray


def causeless(events: Reductions, found: Flight, window: Window, trace: FlowTrace) -> Causeless | None:
    """The events without a loss or mark.

    The network's and the sender's word both count: drops and marks of the queue, and losses by the log, which
    may be false. So does a timeout. Many logs call every fall of the window a loss: such a row explains its
    own fall only if the queue has dropped or marked a packet in the time before. None on a path that itself
    loses or delays packets, for a slow receiver, which loses packets behind the queue, and for a log that
    tells of no loss.
    """
    logged_ns = int64(trace.transport.filter(pl.col("event").is_in(REACTIONS)), "time_ns")
    if trace.random_loss or trace.slow_receiver or not trace.steady or not len(logged_ns):
        return None
    timeouts_ns = window.time_ns[window.timeout]
    learnt_ns = np.sort(np.concatenate((found.learnt_ns - trace.forward_ns, logged_ns, timeouts_ns)))
    trips_ns = found.trips_ns(events.start_ns + trace.forward_ns)
    # the cut was made some time after the row before its own
    earliest_ns = window.time_ns[np.searchsorted(window.time_ns, events.start_ns).clip(min=1) - 1]
    since_ns = earliest_ns - np.maximum(EXPLAINS_TRIPS * trips_ns, EXPLAINS_NS)
    # a log may write down the cut before the loss, and its clock may be another's
    until_ns = events.start_ns + np.maximum(trips_ns, LOG_LATE_NS)
    causes = np.searchsorted(learnt_ns, until_ns, side="right") - np.searchsorted(learnt_ns, since_ns)
    at_ns = events.start_ns + trace.forward_ns
    # what the fall's own row says, where the queue has nothing
    own = np.isin(events.start_ns, logged_ns)
    signals_ns = np.concatenate(([np.iinfo(np.int64).min // 2], np.sort(found.signal_ns)))
    quiet_ns = at_ns - signals_ns[np.searchsorted(signals_ns, at_ns, side="right") - 1]
    causes -= own & (quiet_ns > np.maximum(QUIET_TRIPS * trips_ns, QUIET_NS))
    last = np.searchsorted(found.arrival_ns, at_ns) - 1
    flown = found.flight_bytes[last.clip(min=0)] / max(1, frame_bytes(trace))
    busy = (last >= 0) & (at_ns - found.arrival_ns[last.clip(min=0)] < trips_ns)
    cuts = np.asarray(causes == 0, dtype=bool)
    return Causeless(cuts, cuts & ~(busy & (flown >= IN_USE * events.before)))


def _lost_again(from_ns: Int64Array, starts_ns: Int64Array, learnt_ns: Int64Array) -> BoolArray:
    """Has the sender learnt of a loss or mark after ``from_ns``, and before the next of ``starts_ns``?"""
    learnt_ns = np.sort(learnt_ns)
    next_ns = np.append(starts_ns[1:], np.iinfo(np.int64).max)
    between = np.searchsorted(learnt_ns, next_ns, side="right") > np.searchsorted(learnt_ns, from_ns)
    return np.asarray(between, dtype=bool)


def _back(
    window: Window, start: Int64Array, end: Int64Array, trip_ns: Int64Array
) -> tuple[BoolArray, BoolArray]:
    """Was the window soon back at 98 % of what it had been: in one step, or by growth?"""
    w, time = window.segments, window.time_ns
    until = np.searchsorted(time, time[end] + (GROWN_TRIPS * trip_ns).astype(np.int64), side="right")
    undone, grown = np.zeros(len(start), bool), np.zeros(len(start), bool)
    for row, (s, e, u) in enumerate(zip(start, end, until, strict=True)):
        cut = w[s] - w[e]
        there = np.flatnonzero(w[e:u] >= max(BACK * w[s], w[e] + BACK_OF_CUT * cut))
        if cut < UNDONE_SEGMENTS or not len(there):
            continue
        largest = float(np.diff(w[e : e + there[0] + 1]).max(initial=0.0))
        waited_ns = time[e + there[0]] - time[e]
        undone[row] = largest >= ONE_STEP * cut and waited_ns <= UNDONE_TRIPS * trip_ns[row]
        if waited_ns <= EARLY_SHARE * trip_ns[row] and _comes_down(window, e, e + there[0], u):
            undone[row] = False
        # on a very long path CUBIC itself is back by then, whose curve is read a round trip ahead
        # (RFC 9438, section 4.2)
        soon = (waited_ns + trip_ns[row]) / 1e9 <= SOONER * float(np.cbrt(cut / CUBIC_C))
        grown[row] = soon and largest < ONE_STEP * cut and cut >= GROWN_SEGMENTS
    return undone, grown


def _comes_down(window: Window, settled: int, back: int, until: int) -> bool:
    """Is the window soon at its threshold again, which stays as the cut set it?

    Proportional rate reduction (RFC 6937) does so: in recovery, the window is what is in flight.
    """
    threshold = window.ssthresh[settled]
    same = window.ssthresh[back:until] == threshold
    stays = back + int(np.argmax(np.append(~same, True)))
    low = window.segments[back:stays] <= max(window.segments[settled], threshold) + 1
    return bool(low.any())


def _ends_recovery(window: Window, start: Int64Array, end: Int64Array, trip_ns: Int64Array) -> BoolArray:
    """Falls to the threshold that the reduction before set and had come to, shortly after it, shape (n,).

    In recovery, a window may be what is in flight (RFC 6937), or inflated (RFC 5681, section 3.2). It rises
    before anything that was sent after the reduction is acknowledged: what comes later is something new.
    """
    w, time = window.segments, window.time_ns
    at = np.abs(w[end] - window.ssthresh[end]) <= AT_THRESHOLD
    soon = time[start[1:] + 1] - time[end[:-1]] <= GROWN_TRIPS * trip_ns[:-1]
    found = np.concatenate(([False], at[1:] & at[:-1] & soon))[: len(start)]
    for row in np.flatnonzero(found):
        settled = end[row - 1]
        if np.any(window.ssthresh[settled : end[row] + 1] != window.ssthresh[settled]):
            found[row] = False
            continue
        early = np.searchsorted(time, time[settled] + int(EARLY_SHARE * trip_ns[row - 1]), side="right")
        found[row] = w[settled:early].max() >= BACK * w[start[row]]
    return found
