"""Congestion events without an exported window: the change of the flight after drops of the queue.

Drops of packets that were sent before the sender learnt of the first drop belong to the same event
(RFC 9002 section 7.3.2). A sender that reduces its window at once is silent until its flight has fallen to
the window; the flight with which it sends again is the window, and stays about the same for a while. A
silence after which it does not had another cause, such as credit of the receiver or a send buffer that a lost
packet blocks, and says nothing about the window. Without such a silence the window falls over a
round trip (proportional rate reduction, RFC 6937), and the flight's envelope is lowest at its end. Events are
left out if packets sent in the following round trip are dropped too, because the window does not settle then.
"""

from __future__ import annotations

import numpy as np

from cambrian.metrics.columns import Int64Array
from cambrian.metrics.parameters.flight import LATE, NEVER_NS, Flight
from cambrian.metrics.parameters.flow_trace import FlowTrace
from cambrian.metrics.parameters.reductions import AT_ONCE, BACK, Reductions, nothing, real
from cambrian.metrics.parameters.trains import together
from cambrian.metrics.parameters.window import Window

#: in round trips since the sender learnt of a drop: no further drop until then
QUIET = 0.9
#: between these a flight that falls gradually is lowest, and one that does not has been silent
LOWEST = (0.5, 1.6)
#: by then a reduction that is taken back has been; a flight that is back between the two went down
#: and up within one recovery period, which is no reduction
UNDONE, LASTS = 2.2, 4.0
#: after a gradual fall the flight is read where pacing has filled the window again, and its growth is
#: followed back to the fall's end
GROWTH = (1.7, 5.0)
FEWEST_POINTS = 8
#: a flight that falls because nothing is sent takes the cut's share of a round trip; a silence of
#: less than so much of that is not it, nor one of less than so many of the longest gaps before the event,
#: which are those between two acknowledgements
SILENT_SHARE, SILENT_GAPS = 0.6, 1.5
#: the first packets after a silence, and the rest of the train that they are part of
FIRST_PACKETS = 8
#: in these round trips the flight is within this part of the window before the event, or these packets, of
#: what it was after the silence: CUBIC and Reno grow by a twentieth of the window in that time
STAYS = (1.6, 3.0)
STAYS_SHARE, STAYS_PACKETS = 0.15, 3.0


def in_flight(trace: FlowTrace, found: Flight, window: Window) -> Reductions:
    """The reductions of the trace's flight. ``window``: its envelope."""
    apart = np.diff(found.arrival_ns, append=NEVER_NS) > together(trace, found.size_bytes)
    train_ends, forward_ns = np.flatnonzero(apart) + 1, trace.forward_ns
    events = [
        event
        for learnt_ns, next_ns in _first_signals(found)
        if (event := _event(found, window, learnt_ns, next_ns, train_ends)) is not None
    ]
    if not events:
        return nothing()
    start_ns, settled_ns, before, after, undone = (np.array(column) for column in zip(*events, strict=True))
    kept = real(before, after)
    return Reductions(
        start_ns=start_ns[kept] - forward_ns,
        settled_ns=settled_ns[kept] - forward_ns,
        before=before[kept],
        after=after[kept],
        undone=undone[kept],
        grown=np.zeros(int(kept.sum()), bool),
        unseen=np.zeros(int(kept.sum())),
    )


def _first_signals(found: Flight) -> list[tuple[int, int]]:
    """Of each event: when the sender learns of its first drop, and when it sent the next event's first.

    Both on the queue's clock.
    """
    order = np.argsort(found.learnt_ns, kind="stable")
    learnt_ns, sent_ns = found.learnt_ns[order], found.signal_ns[order]
    # what was dropped last may never be learnt of
    count = int(np.searchsorted(learnt_ns, NEVER_NS))
    events, position = [], 0
    while position < count:
        first_ns = int(learnt_ns[position])
        known_ns = first_ns + round(LATE * found.trip_ns(first_ns))
        # what is learnt later was sent later
        position = max(position + 1, int(np.searchsorted(sent_ns, known_ns, side="right")))
        events.append((first_ns, int(sent_ns[position]) if position < len(sent_ns) else NEVER_NS))
    return events


def _event(
    found: Flight, window: Window, learnt_ns: int, next_ns: int, train_ends: Int64Array
) -> tuple[int, int, float, float, bool] | None:
    """One event's start and end (queue's clock), windows before and after, and whether it was undone."""
    arrival_ns = found.arrival_ns
    at = int(np.searchsorted(arrival_ns, learnt_ns))
    if not 0 < at < len(arrival_ns):
        return None
    trip_ns = int(found.round_trip_ns[at - 1])
    if next_ns < learnt_ns + QUIET * trip_ns or arrival_ns[-1] < learnt_ns + LASTS * trip_ns:
        return None

    def after_trips(trips: float) -> int:
        return int(np.searchsorted(arrival_ns, learnt_ns + trips * trip_ns))

    half, whole, undone_by, lasting_by = (after_trips(trips) for trips in (LOWEST[0], 1, UNDONE, LASTS))
    end = min(after_trips(LOWEST[1]), int(np.searchsorted(arrival_ns, next_ns)))
    before = float(window.segments[at - 1])
    gaps_ns = np.diff(arrival_ns[at - 1 : whole + 1])
    settled = at + int(np.argmax(gaps_ns))
    eighth = min(settled + FIRST_PACKETS, len(arrival_ns))
    # only a whole train fills the window
    full = train_ends[np.searchsorted(train_ends, eighth)]
    after = float(found.flight_bytes[settled:full].max()) / window.unit_bytes
    cut = 1 - after / before
    usual_ns = _longest_gap_ns(arrival_ns[:at], learnt_ns - trip_ns)
    gradual = cut < AT_ONCE or not _is_silence(gaps_ns, cut * trip_ns, usual_ns)
    if gradual:
        if end <= half:
            return None
        settled = half + int(np.argmin(window.segments[half:end]))
        after = float(window.segments[settled])
    back = window.segments[settled + window.length : lasting_by] >= BACK * before
    undone = bool(back[: undone_by - settled - window.length].any())
    if gradual and back.any() and not undone:
        return None
    times_ns, windows = (learnt_ns, trip_ns, next_ns), (before, after)
    if not gradual and not undone and not _stays(found, window, settled, times_ns, windows, usual_ns):
        return None
    if gradual and not undone:
        after = max(after, _followed_back(found, window, learnt_ns + trip_ns, trip_ns, next_ns))
    return learnt_ns, learnt_ns + trip_ns, before, after, undone


def _longest_gap_ns(arrival_ns: Int64Array, since_ns: int) -> int:
    """The longest time between two packets from ``since_ns`` on; 0 with fewer than two."""
    return int(np.diff(arrival_ns[np.searchsorted(arrival_ns, since_ns) :]).max(initial=0))


def _is_silence(gaps_ns: Int64Array, cut_ns: float, usual_ns: int) -> bool:
    """Is the longest gap the time in which a cut is acknowledged, and no usual one?"""
    return bool(gaps_ns.max(initial=0) >= max(SILENT_SHARE * cut_ns, SILENT_GAPS * usual_ns))


def _stays(
    found: Flight,
    window: Window,
    settled: int,
    times_ns: tuple[int, int, int],
    windows: tuple[float, float],
    usual_ns: int,
) -> bool:
    """Is the flight some round trips later about what it was after the silence?

    True if too few packets show it, or if another silence lowers it again; False if a loss comes before.
    """
    learnt_ns, trip_ns, next_ns = times_ns
    before, after = windows
    low_ns, high_ns = (learnt_ns + round(trips * trip_ns) for trips in STAYS)
    if next_ns < low_ns:
        return False
    low, high = np.searchsorted(found.arrival_ns, [low_ns, min(high_ns, next_ns)])
    if high - low < FEWEST_POINTS:
        return True
    later = float(np.median(found.flight_bytes[low:high])) / window.unit_bytes
    if later > after:
        return later - after <= max(STAYS_SHARE * before, STAYS_PACKETS)
    gaps_ns = np.diff(found.arrival_ns[settled:high])
    again = _is_silence(gaps_ns, (1 - later / after) * float(found.round_trip_ns[low]), usual_ns)
    return again or after - later <= max(STAYS_SHARE * before, STAYS_PACKETS)


def _followed_back(found: Flight, window: Window, at_ns: int, trip_ns: int, next_ns: int) -> float:
    """The window that the flight's growth from ``at_ns`` on began at; 0 if it is not visible."""
    low_ns, high_ns = (at_ns + round((trips - 1) * trip_ns) for trips in GROWTH)
    if next_ns < high_ns:
        return 0.0
    low, high = np.searchsorted(found.arrival_ns, [low_ns, high_ns])
    if high - low < FEWEST_POINTS:
        return 0.0
    passed_s = (found.arrival_ns[low:high] - at_ns) / 1e9
    slope, level = np.polyfit(passed_s, window.segments[low:high], 1)
    return float(level) if slope >= 0 else 0.0
